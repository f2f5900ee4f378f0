"""How fast it goes and when it will be ready: rates and the time to go, of runs that are alive.

The rate is that of the last jobs that ended, at most 15 minutes back. Counts of the queue are those
that a live run's heart has written with its last beat, so that nobody has to count a million rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from worker.database.client import Database, Row
from worker.recovery import live_runs
from worker.recovery.live_runs import Life, RunState

RATE_SECONDS = 900.0
SAMPLE = 10_000
# Before this it is too early to tell a rate.
MIN_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Outlook:
    """What is left, how fast it goes, and how long the rest takes."""

    per_second: float
    # By run; a run in which nothing ended lately is not in it.
    per_second_of_run: dict[int, float]
    # None where no heart has counted lately.
    pending: int | None = None
    in_progress: int | None = None
    waiting: int | None = None
    held_back: int | None = None
    held_because: str = ""
    counted_at: datetime | None = None

    @property
    def to_go(self) -> int | None:
        """Jobs that can be done now: without those that wait for a time or are held back."""
        if self.pending is None or self.in_progress is None:
            return None
        held = (self.waiting or 0) + (self.held_back or 0)
        return max(0, self.pending - held) + self.in_progress

    @property
    def eta_seconds(self) -> float | None:
        """How long that takes at this rate; None when that cannot be told."""
        if self.to_go is None or (self.to_go and self.per_second <= 0):
            return None
        return self.to_go / self.per_second if self.to_go else 0.0


def rates(db: Database) -> dict[int, float]:
    """Tell the jobs per second that ended lately, by run; 0 stands for runs not known any more."""
    rows = db.fetch_all("recent_ends", seconds=RATE_SECONDS, limit=SAMPLE)
    window = RATE_SECONDS
    if sum(int(row["jobs"]) for row in rows) >= SAMPLE:
        window = max(float(row["first_end_ago"]) for row in rows)
    return {row["run_id"]: _rate(row, window) for row in rows}


def outlook(db: Database, runs: Sequence[RunState] | None = None) -> Outlook:
    """Tell how fast it goes and what is left, as the hearts of live runs last counted it."""
    alive = live_runs.alive(db) if runs is None else [r for r in runs if r.life is Life.ALIVE]
    per_run = rates(db)
    total = sum(per_run.get(run.run_id, 0.0) for run in alive)
    told = [run for run in alive if run.pulse.get("pending") is not None]
    if not told:
        return Outlook(total, per_run)
    latest = max(told, key=lambda run: run.heartbeat_at)
    pulse = latest.pulse
    return Outlook(
        total,
        per_run,
        pending=pulse["pending"],
        in_progress=pulse["in_progress"],
        waiting=pulse["waiting"],
        held_back=pulse["held_back"],
        held_because=pulse["held_because"],
        counted_at=latest.heartbeat_at,
    )


def _rate(row: Row, window_seconds: float) -> float:
    # A run that has just begun is judged by its own time.
    age = window_seconds if row["run_age"] is None else float(row["run_age"])
    return int(row["jobs"]) / max(min(window_seconds, age), MIN_SECONDS)
