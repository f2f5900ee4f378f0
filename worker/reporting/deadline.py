"""Whether the rest is done before runs stop by `--until` or `--max-runtime`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from worker.recovery.live_runs import RunState

# A rate needs some time; at the very end the run's own end tells how it came out.
EARLY_SECONDS, EARLY_SHARE, END_SHARE = 300.0, 0.1, 0.05
# By this factor the work may outlast the time that is left: a rate is only an estimate.
LATE_SHARE = 1.1


def deadline(alive: Sequence[RunState]) -> datetime | None:
    """Tell when the last of these runs claims no more; None when one of them has no limit."""
    ends = [run.claims_until for run in alive]
    return max((end for end in ends if end is not None), default=None) if all(ends) else None


def will_be_late(alive: Sequence[RunState], eta_seconds: float | None, now: datetime) -> bool:
    """Tell whether these runs clearly stop before the rest is done, by the database's time."""
    end = deadline(alive)
    if end is None:
        return False
    began = min(run.started_at for run in alive)
    until, passed = (end - began).total_seconds(), (now - began).total_seconds()
    return is_late(eta_seconds, 0.0, until, passed) is True


def is_late(
    eta_seconds: float | None, began: float, until: float | None, now: float
) -> bool | None:
    """Tell whether the rest will not be done by `until`; None when it is too early to tell."""
    if until is None or eta_seconds is None:
        return None
    total, left = until - began, until - now
    if now - began < min(EARLY_SECONDS, EARLY_SHARE * total) or left < END_SHARE * total:
        return None
    if eta_seconds > LATE_SHARE * left:
        return True
    return False if eta_seconds <= left else None
