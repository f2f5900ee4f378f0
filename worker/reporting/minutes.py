"""Counting what ended, minute by minute, out of the finished jobs and the attempts themselves.

So a finish has nothing extra to write. A statement reads a bounded number of rows, by indexes on
the time they ended; it takes no locks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice

from worker.database.client import Database, Row
from worker.models import Outcome
from worker.reporting.histogram import Histogram
from worker.reporting.spans import MINUTE
from worker.reporting.tally import Tally

# What one statement reads of each table: about 50 ms on a small machine.
ROWS_AT_ONCE = 20_000
TINY = timedelta(microseconds=1)

TaskKey = tuple[datetime, str, Outcome]
WorkerKey = tuple[datetime, int, int, Outcome]


@dataclass(slots=True)
class Counted:
    """What was counted: by (start, task, outcome) and by (start, run, slot, outcome)."""

    by_task: dict[TaskKey, Tally] = field(default_factory=dict)
    by_worker: dict[WorkerKey, Tally] = field(default_factory=dict)

    def note_task(self, key: TaskKey, tally: Tally) -> None:
        self.by_task.setdefault(key, Tally()).add(tally)

    def note_worker(self, key: WorkerKey, tally: Tally) -> None:
        self.by_worker.setdefault(key, Tally()).add(tally)


def count(
    db: Database,
    start: datetime,
    end: datetime,
    *,
    rows: int = ROWS_AT_ONCE,
    most_parts: int | None = None,
) -> Counted:
    """Count what ended between two moments: all of it, or what `most_parts` statements read."""
    counted = Counted()
    origin = MINUTE.floor(start)
    for part_start, part_end in islice(stretches(db, start, end, rows), most_parts):
        for row in db.fetch_all("ended_attempts", origin=origin, start=part_start, end=part_end):
            _note(counted, origin + timedelta(minutes=row["minute"]), row)
    return counted


def end_of_stretch(
    db: Database, start: datetime, end: datetime, rows: int = ROWS_AT_ONCE
) -> datetime:
    """Say how far to count from a moment at a time: whole minutes with so many rows, or one."""
    reached = _place_behind(db, start, rows)
    if reached is None or reached >= end:
        return end
    return min(end, max(MINUTE.floor(reached), MINUTE.next(start)))


def first_end(db: Database, start: datetime) -> datetime | None:
    """Tell when something ended first since a moment, if ever."""
    return _place_behind(db, start, 0)


def stretches(
    db: Database, start: datetime, end: datetime, rows: int = ROWS_AT_ONCE
) -> Iterator[tuple[datetime, datetime]]:
    """Divide a time into stretches in which about `rows` rows ended."""
    while start < end:
        reached = _place_behind(db, start, rows)
        # What shares one moment is read together, however much it is.
        part_end = end if reached is None else min(end, max(reached, start + TINY))
        yield start, part_end
        start = part_end


def _place_behind(db: Database, start: datetime, places: int) -> datetime | None:
    rows = db.fetch_all("end_of_stretch", start=start, places=places)
    return min((row["finished_at"] for row in rows), default=None)


def _note(counted: Counted, minute: datetime, row: Row) -> None:
    tally = Tally(
        attempts=int(row["attempts"]),
        failed=int(row["failed"]),
        recovered=int(row["recovered"]),
        run_seconds=float(row["run_seconds"] or 0),
        wait_seconds=float(row["wait_seconds"] or 0),
        durations=Histogram(),
        waits=Histogram(),
    )
    tally.durations.note(row["duration"], tally.attempts)
    tally.waits.note(row["wait"], tally.attempts)
    outcome = Outcome(row["outcome"])
    counted.note_task((minute, row["task"], outcome), tally)
    # A job that somebody marked as done by hand has no worker.
    slot = -1 if row["slot"] is None else row["slot"]
    counted.note_worker((minute, row["run_id"] or 0, slot, outcome), tally)
