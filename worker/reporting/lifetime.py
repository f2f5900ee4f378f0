"""What ever ended, by task: what counters of metrics show. No number of it ever goes down.

Roll-ups are thinned out to hours and days without losing a count, archiving changes none, and what
has no roll-up yet is counted on the spot. Only `rollups rebuild` after a deletion counts less.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from worker.database.client import Database
from worker.models import Outcome
from worker.reporting.exposition import OTHER
from worker.reporting.figures import MAX_ROWS, State, pieces, state, tail
from worker.reporting.spans import DAY, EARLIEST, Span
from worker.reporting.tally import Tally

# Tasks that are told by name.
MAX_TASKS = 100
# How many spans to read at once: far fewer rows than one statement may give.
SPANS_AT_ONCE = 60

Lifetime = dict[tuple[str, Outcome], Tally]


@dataclass(frozen=True, slots=True)
class _Ended:
    at: datetime
    task: str
    outcome: Outcome
    tally: Tally


def lifetime(db: Database) -> Lifetime:
    """Add up all that ever ended, by task and how it ended; surplus tasks are one, `other`."""
    counted: Lifetime = {}
    first_day: dict[str, datetime] = {}
    for each in _all(db, state(db)):
        counted.setdefault((each.task, each.outcome), Tally()).add(each.tally)
        day = DAY.floor(each.at)
        first_day[each.task] = min(day, first_day.get(each.task, day))
    named = _named(first_day)
    told: Lifetime = {}
    for (task, outcome), tally in sorted(counted.items()):
        name = task if task in named else OTHER
        told.setdefault((name, outcome), Tally()).add(tally)
    return told


def _named(first_day: dict[str, datetime]) -> set[str]:
    """Choose the tasks that are told by name: the first ones, by day and name.

    So a task may join the others when more come, but it never leaves them again: what is told of
    the others would go down. The day is what remains known when minutes and hours are gone.
    """
    return set(sorted(first_day, key=lambda task: (first_day[task], task))[:MAX_TASKS])


def _all(db: Database, known: State) -> Iterator[_Ended]:
    for span, start, end in pieces(known, EARLIEST, known.now, DAY):
        for first, last in _stretches(db, span, start, end):
            for row in db.fetch_all(
                "task_rollups_between",
                span=span.name,
                start=first,
                end=last,
                task=None,
                limit=MAX_ROWS,
            ):
                yield _Ended(row["start"], row["task"], Outcome(row["outcome"]), Tally.of_row(row))
    for (at, task, outcome), tally in tail(db, known, EARLIEST, known.now).by_task.items():
        yield _Ended(at, task, outcome, tally)


def _stretches(
    db: Database, span: Span, start: datetime, end: datetime
) -> Iterator[tuple[datetime, datetime]]:
    """Split a time into parts of bounded length, without those in which nothing ended."""
    length: timedelta = SPANS_AT_ONCE * span.length
    while (row := db.fetch_one("first_rollup", span=span.name, start=start)) is not None:
        start = row["start"]
        if start >= end:
            return
        yield start, min(start + length, end)
        start += length
