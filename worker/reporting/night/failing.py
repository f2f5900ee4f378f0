"""Do many jobs fail? One rule for the verdicts of report and dashboard, during a run and after it.

Many: at least one in twenty of those that ended, and for each job that was done three times as many
as usual. What failed lately is looked at by itself: a night that went well so far would hide it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from worker.database.client import Database
from worker.reporting import figures
from worker.reporting.night.words import share

MANY_SHARE, MANY_TIMES = 0.05, 3.0
LATELY = timedelta(hours=1)
# Of fewer jobs in the last hour, one that failed says nothing.
LEAST_LATELY = 10


@dataclass(frozen=True, slots=True)
class Ended:
    """Jobs that were done, and jobs that failed for good."""

    done: float = 0
    failed: float = 0

    @property
    def jobs(self) -> float:
        """All that ended."""
        return self.done + self.failed


def are_many(ended: Ended, usual: Ended) -> bool:
    """Tell whether more fail than a person wants to wait with until the morning."""
    if not ended.jobs or ended.failed / ended.jobs < MANY_SHARE:
        return False
    if not usual.jobs:
        return True
    # Not by shares: where four in ten fail usually, no share is three times as large.
    return ended.failed * usual.done > MANY_TIMES * usual.failed * ended.done


def warning(night: Ended, lately: Ended, usual: Ended) -> str:
    """Say which share fails, of the night or of the last hour; empty where that is not much."""
    if are_many(night, usual):
        return _said(night, "")
    if lately.jobs >= LEAST_LATELY and are_many(lately, usual):
        return _said(lately, " in the last hour")
    return ""


def lately(db: Database, now: datetime, in_error: float) -> Ended:
    """Count what ended in the last hour; of `in_error` jobs, no more can have failed by now."""
    told = figures.totals(db, now - LATELY, now)
    return Ended(told.done, min(told.failed, in_error))


def _said(ended: Ended, when: str) -> str:
    failed, jobs = share(ended.failed, ended.jobs), f"{ended.jobs:,.0f}"
    if ended.jobs == 1:
        return f"the one job that ended{when} has failed"
    return f"{failed} of the {jobs} jobs that ended{when} have failed"
