"""What a night is: from when to when.

`--run N` is that run, from its start to its end. `--since` is a time of day (its latest), a date
and time, or a time ago. Without either: since the last 18:00, today's or yesterday's; or, when
nothing has ended since, the latest run in which something did.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, tzinfo

from worker.database.client import Database
from worker.errors import UsageError
from worker.recovery import live_runs
from worker.recovery.live_runs import Life, RunState
from worker.reporting import events, figures
from worker.settings import parse_duration

EVENING = time(18)
# So many runs are looked at for one that did something.
LOOK_BACK = 100
_CLOCK = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
# Far enough from the first day of the calendar to count back from.
EARLIEST = datetime(1970, 1, 1)  # noqa: DTZ001 - UTC, as the database tells it.
BAD_SINCE = "write 18:00, 2026-01-31T18:00 or 12h"


@dataclass(frozen=True, slots=True)
class Window:
    """A night: from `start` to `end`, in the database's time; `now` is when it was asked for."""

    start: datetime
    end: datetime
    now: datetime
    zone: tzinfo
    # The run it is about, if it is about one.
    run: RunState | None
    # Whoever was at work in it, the one that beat last first.
    runs: tuple[RunState, ...]
    # How to ask for the same report again.
    command: str

    @property
    def is_past(self) -> bool:
        """Whether it ended before now, so that the queue's present state tells nothing of it."""
        return self.run is not None and self.run.over_at is not None and self.end < self.now

    @property
    def new_since(self) -> datetime:
        """Since when a failure is NEW: the night's beginning, also where cron starts many runs."""
        if self.run is None:
            return self.start
        return parse_since(f"{EVENING:%H:%M}", self.start, self.zone)

    @property
    def alive(self) -> tuple[RunState, ...]:
        """The runs that are at work still, or may be."""
        return tuple(run for run in self.runs if run.life in (Life.ALIVE, Life.SILENT))

    def local(self, moment: datetime) -> datetime:
        """Give a moment of the database in people's time."""
        return moment.replace(tzinfo=UTC).astimezone(self.zone)


def of_run(db: Database, run_id: int, zone: tzinfo) -> Window:
    """Take one run as the night; raises UsageError when there is none of this number."""
    now = figures.state(db).now
    found = live_runs.newest(db, 1, before=run_id + 1)
    if not found or found[0].run_id != run_id:
        raise UsageError(f"there is no run {run_id}; list them: launcher.py runs")
    run = found[0]
    end = max(run.over_at or now, run.started_at + timedelta(seconds=1))
    command = f"launcher.py report --run {run_id}"
    return Window(run.started_at, end, now, zone, run, (run,), command)


def since(db: Database, text: str, zone: tzinfo) -> Window:
    """Take what a person wrote as the beginning, and now as the end; raises UsageError."""
    now = figures.state(db).now
    start = parse_since(text, now, zone)
    command = f"launcher.py report --since {_local(start, zone):%Y-%m-%dT%H:%M}"
    return _until_now(db, start, now, zone, command)


def last_night(db: Database, zone: tzinfo) -> Window:
    """Take the last night: since 18:00, or the latest run that did something."""
    now = figures.state(db).now
    start = parse_since(f"{EVENING:%H:%M}", now, zone)
    if not _has_ends(db, start, now) and not live_runs.alive(db):
        for run in live_runs.newest(db, LOOK_BACK):
            if run.started_at < start and _did_something(db, run):
                return of_run(db, run.run_id, zone)
    command = f"launcher.py report --since {_local(start, zone):%Y-%m-%dT%H:%M}"
    return _until_now(db, start, now, zone, command)


def parse_since(text: str, now: datetime, zone: tzinfo) -> datetime:
    """Read a time of day, a date and time, or a time ago; `now` and the answer are UTC."""
    local = _local(now, zone)
    if clock := _CLOCK.fullmatch(text.strip()):
        start = local.replace(hour=int(clock[1]), minute=int(clock[2]), second=0, microsecond=0)
        if start > local:
            # By the wall clock: also over a night in which the hour changes.
            start = (start.replace(tzinfo=None) - timedelta(days=1)).replace(tzinfo=zone)
        return start.astimezone(UTC).replace(tzinfo=None)
    start_utc = _ago(text, now)
    if start_utc is None:
        try:
            given = datetime.fromisoformat(text.strip())
            given = given if given.tzinfo else given.replace(tzinfo=zone)
            start_utc = given.astimezone(UTC).replace(tzinfo=None)
        except (ValueError, OverflowError):
            raise UsageError(f"--since {text[:40]} is not a time; {BAD_SINCE}") from None
    if start_utc >= now:
        raise UsageError(f"--since {text[:40]} is not before now; {BAD_SINCE}")
    if start_utc < EARLIEST:
        raise UsageError(f"--since {text[:40]} is before all nights; {BAD_SINCE}")
    return start_utc


def _ago(text: str, now: datetime) -> datetime | None:
    try:
        return now - timedelta(seconds=parse_duration(text))
    except (ValueError, OverflowError):
        return None


def _until_now(db: Database, start: datetime, now: datetime, zone: tzinfo, command: str) -> Window:
    runs = tuple(events.runs_between(db, start, now))
    return Window(start, now, now, zone, None, runs, command)


def _has_ends(db: Database, start: datetime, end: datetime) -> bool:
    return figures.totals(db, start, end).attempts() > 0


def _did_something(db: Database, run: RunState) -> bool:
    if run.summary is not None:
        return any(run.summary.get(name) for name in ("done", "failed", "retried"))
    return _has_ends(db, run.started_at, run.over_at or run.heartbeat_at)


def _local(moment: datetime, zone: tzinfo) -> datetime:
    return moment.replace(tzinfo=UTC).astimezone(zone)
