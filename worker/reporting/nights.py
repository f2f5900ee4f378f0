"""Which night it is, and since when a failure is NEW: one meaning for lists, reports and messages.

A night begins at 18:00 by this machine's clock. A failure is NEW if it was not seen before that
night began, however many runs cron has started since.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, tzinfo

from worker.database.client import Database
from worker.recovery import live_runs
from worker.recovery.live_runs import RunState
from worker.reporting import figures, minutes

EVENING = time(18)
# How many runs to look through for one that did something.
LOOK_BACK = 100


@dataclass(frozen=True, slots=True)
class ThisNight:
    """The night to tell of when nobody names one; with `run`, it is that one, which is over."""

    now: datetime
    start: datetime
    run: RunState | None = None


def beginning(moment: datetime, zone: tzinfo) -> datetime:
    """Tell when the night began that a moment is in; both are UTC, as the database has them."""
    return latest(EVENING, moment, zone)


def this_night(db: Database, zone: tzinfo) -> ThisNight:
    """Find the last night: since 18:00, or the latest run before that did something.

    The latter only when nothing has ended since, and no run is at work.
    """
    now = figures.state(db).now
    start = beginning(now, zone)
    if not _has_ends(db, start, now) and not live_runs.alive(db):
        for run in live_runs.newest(db, LOOK_BACK):
            if run.started_at < start and _did_something(db, run):
                return ThisNight(now, run.started_at, run)
    return ThisNight(now, start)


def new_since(db: Database, zone: tzinfo) -> datetime:
    """Tell since when a failure is NEW, where everything that failed is listed."""
    return beginning(this_night(db, zone).start, zone)


def new_since_of_run(db: Database, run_id: int, zone: tzinfo) -> datetime:
    """Tell the same where one run is told of: since the night began in which it was started."""
    found = live_runs.newest(db, 1, before=run_id + 1)
    return beginning(found[0].started_at if found else figures.state(db).now, zone)


def latest(clock: time, moment: datetime, zone: tzinfo) -> datetime:
    """Find the last moment with this time of day in a zone; `moment` and the answer are UTC."""
    local = moment.replace(tzinfo=UTC).astimezone(zone)
    start = local.replace(hour=clock.hour, minute=clock.minute, second=0, microsecond=0)
    if start > local:
        # By the wall clock: also over a night in which the hour changes.
        start = (start.replace(tzinfo=None) - timedelta(days=1)).replace(tzinfo=zone)
    return start.astimezone(UTC).replace(tzinfo=None)


def _has_ends(db: Database, start: datetime, end: datetime) -> bool:
    first = minutes.first_end(db, start)
    return first is not None and first < end


def _did_something(db: Database, run: RunState) -> bool:
    if run.summary is not None:
        return any(run.summary.get(name) for name in ("done", "failed", "retried"))
    return _has_ends(db, run.started_at, run.over_at or run.heartbeat_at)
