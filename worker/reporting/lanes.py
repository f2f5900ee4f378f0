"""The timeline of the workers: a lane for each slot of each run, with what it did when.

A lane has columns of equal width with counts, and the lives of the workers that held the slot.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from worker.database.client import Database, Row
from worker.models import Outcome
from worker.reporting import events, figures
from worker.reporting.events import Event, Kind
from worker.reporting.minutes import WorkerKey
from worker.reporting.spans import HOUR, MINUTE, Span
from worker.reporting.tally import Tally

MAX_COLUMNS = 1000
MAX_ROWS = 100_000
# Longer than this, lanes are drawn by hours.
BY_MINUTES = timedelta(days=3)


@dataclass(slots=True)
class Column:
    """What a slot did in one stretch of time."""

    start: datetime
    done: int = 0
    failed: int = 0
    again: int = 0
    handed_back: int = 0
    busy_seconds: float = 0.0

    def note(self, outcome: Outcome, tally: Tally) -> None:
        """Take in attempts that ended so."""
        self.failed += tally.failed
        self.busy_seconds += tally.run_seconds
        if outcome is Outcome.DONE:
            self.done += tally.attempts
        elif outcome is Outcome.HANDED_BACK:
            self.handed_back += tally.attempts
        else:
            self.again += tally.attempts - tally.failed


@dataclass(slots=True)
class Lane:
    """One slot of one run; `columns` holds those in which something ended, oldest first."""

    run_id: int
    slot: int
    host: str = ""
    columns: list[Column] = field(default_factory=list)
    lives: list[Event] = field(default_factory=list)

    @property
    def restarts(self) -> int:
        """How often another worker took the slot over, as far as the lives are told."""
        return max((life.restarts for life in self.lives), default=0)


@dataclass(frozen=True, slots=True)
class Timeline:
    """The lanes between two moments, by run and slot."""

    start: datetime
    end: datetime
    column_seconds: float
    lanes: list[Lane]


def timeline(db: Database, since: datetime, until: datetime, columns: int = 240) -> Timeline:
    """Draw the lanes of all that worked between two moments, in about `columns` columns."""
    span = MINUTE if until - since <= BY_MINUTES else HOUR
    start, end = span.floor(since), span.ceil(until)
    wanted = max(1, min(columns, MAX_COLUMNS))
    width = span.length * max(1, -(-(end - start) // (span.length * wanted)))
    lanes: dict[tuple[int, int], Lane] = {}
    for life in events.between(db, since, until, (Kind.WORKER,)):
        place = (life.run_id or 0, -1 if life.slot is None else life.slot)
        lanes.setdefault(place, Lane(*place, life.host or "")).lives.append(life)
    cells: dict[tuple[int, int, datetime], Column] = {}
    for (moment, run_id, slot, outcome), tally in _told(db, start, end, span, width):
        column = start + (moment - start) // width * width
        cell = cells.setdefault((run_id, slot, column), Column(column))
        cell.note(outcome, tally)
    for run_id, slot, column in sorted(cells):
        lane = lanes.setdefault((run_id, slot), Lane(run_id, slot))
        lane.columns.append(cells[run_id, slot, column])
    return Timeline(start, end, width.total_seconds(), [lanes[key] for key in sorted(lanes)])


def _told(
    db: Database, start: datetime, end: datetime, span: Span, width: timedelta
) -> Iterator[tuple[WorkerKey, Tally]]:
    known = figures.state(db)
    for piece, piece_start, piece_end in figures.pieces(known, start, end, span):
        for row in db.fetch_all(
            "lane_columns",
            span=piece.name,
            origin=start,
            start=piece_start,
            end=piece_end,
            minutes=width // MINUTE.length,
            limit=MAX_ROWS,
        ):
            column = start + int(row["place"]) * width
            yield (column, row["run_id"], row["slot"], Outcome(row["outcome"])), _tally(row)
    yield from figures.tail(db, known, start, end).by_worker.items()


def _tally(row: Row) -> Tally:
    return Tally(
        attempts=int(row["attempts"]),
        failed=int(row["failed"]),
        run_seconds=float(row["run_seconds"]),
    )
