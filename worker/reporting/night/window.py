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
from worker.flags import parse_duration
from worker.installation import command_line
from worker.recovery import live_runs
from worker.recovery.live_runs import Life, RunState
from worker.reporting import events, figures, nights

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
        """Since when a failure is NEW: since the night began in which this begins."""
        return nights.beginning(self.start, self.zone)

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
    command = command_line("report", "--run", run_id)
    return Window(run.started_at, end, now, zone, run, (run,), command)


def since(db: Database, text: str, zone: tzinfo) -> Window:
    """Take what a person wrote as the beginning, and now as the end; raises UsageError."""
    now = figures.state(db).now
    start = parse_since(text, now, zone)
    command = command_line("report", "--since", f"{_local(start, zone):%Y-%m-%dT%H:%M}")
    return _until_now(db, start, now, zone, command)


def last_night(db: Database, zone: tzinfo) -> Window:
    """Take the last night: since 18:00, or the latest run that did something."""
    found = nights.this_night(db, zone)
    if found.run is not None:
        return of_run(db, found.run.run_id, zone)
    command = command_line("report", "--since", f"{_local(found.start, zone):%Y-%m-%dT%H:%M}")
    return _until_now(db, found.start, found.now, zone, command)


def parse_since(text: str, now: datetime, zone: tzinfo) -> datetime:
    """Read a time of day, a date and time, or a time ago; `now` and the answer are UTC."""
    if clock := _CLOCK.fullmatch(text.strip()):
        return nights.latest(time(int(clock[1]), int(clock[2])), now, zone)
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


def _local(moment: datetime, zone: tzinfo) -> datetime:
    return moment.replace(tzinfo=UTC).astimezone(zone)
