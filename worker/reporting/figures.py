"""Figures for reports, dashboards and metrics: what ended when, of which task, by which worker.

Read from the roll-ups; what these do not hold yet, the last minute or two, is counted on the spot.
All times are UTC without a zone, as the database has them. Every statement is bounded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from worker.database.client import Database, Row
from worker.models import Outcome
from worker.reporting import minutes
from worker.reporting.minutes import Counted
from worker.reporting.spans import DAY, EARLIEST, HOUR, MINUTE, Span
from worker.reporting.tally import Figures, Tally

# No chart needs more; a day of minutes with twenty tasks has fewer.
MAX_ROWS = 100_000
# Statements that count what has no roll-up yet: ordinarily the first one reads all of it.
TAIL_PARTS = 5


@dataclass(frozen=True, slots=True)
class State:
    """How far the roll-ups are; `now` is the database's time."""

    now: datetime
    owner: str | None
    # Minutes, hours and days before have roll-ups; EARLIEST: none has.
    counted_until: datetime
    hours_until: datetime
    days_until: datetime


@dataclass(slots=True)
class WorkerFigures:
    """What one slot of one run came to; run 0 stands for runs that are not known any more."""

    run_id: int
    slot: int
    figures: Figures


def state(db: Database) -> State:
    """Tell how far the roll-ups are, and the database's time."""
    row = db.fetch_all("rollup_state")[0]
    return State(
        now=row["now"],
        owner=row["owner"],
        counted_until=row["counted_until"] or EARLIEST,
        hours_until=row["hours_until"] or EARLIEST,
        days_until=row["days_until"] or EARLIEST,
    )


def per_minute(
    db: Database, since: datetime, until: datetime, *, task: str | None = None
) -> list[Figures]:
    """List the minutes in which something ended, with what did; at most eight days back."""
    return series(db, since, until, MINUTE, task=task)


def series(
    db: Database, since: datetime, until: datetime, span: Span, *, task: str | None = None
) -> list[Figures]:
    """List the minutes, hours or days in which something ended, with what did; oldest first.

    The first and the last are whole spans, also where `since` and `until` lie within them.
    """
    found: dict[datetime, Figures] = {}
    since, until = span.floor(since), span.ceil(until)
    for start, _, outcome, tally in _by_task(db, since, until, span, task):
        place = span.floor(start)
        figures = found.setdefault(place, Figures(place, place + span.length))
        figures.add(outcome, tally)
    return [found[place] for place in sorted(found)]


def totals(db: Database, since: datetime, until: datetime, *, task: str | None = None) -> Figures:
    """Add up what ended between two moments, to the minute.

    Further back than eight days, minutes have been put together: there it is to the hour.
    """
    whole = Figures(since, until)
    for _, _, outcome, tally in _by_task(db, since, until, DAY, task):
        whole.add(outcome, tally)
    return whole


def by_task(db: Database, since: datetime, until: datetime) -> dict[str, Figures]:
    """Add up the same for each task, by its name."""
    found: dict[str, Figures] = {}
    for _, name, outcome, tally in _by_task(db, since, until, DAY, None):
        found.setdefault(name, Figures(since, until)).add(outcome, tally)
    return found


def ever(db: Database) -> dict[str, Figures]:
    """Add up all that ever ended, by task: what counters of metrics show. It never goes down."""
    return by_task(db, EARLIEST, state(db).now)


def per_worker(db: Database, since: datetime, until: datetime) -> list[WorkerFigures]:
    """Add up what ended between two moments for each slot of each run."""
    found: dict[tuple[int, int], WorkerFigures] = {}
    for run_id, slot, outcome, tally in _by_worker(db, since, until):
        worker = WorkerFigures(run_id, slot, Figures(since, until))
        found.setdefault((run_id, slot), worker).figures.add(outcome, tally)
    return [found[key] for key in sorted(found)]


def _by_task(
    db: Database, since: datetime, until: datetime, widest: Span, task: str | None
) -> Iterator[tuple[datetime, str, Outcome, Tally]]:
    known = state(db)
    for span, start, end in pieces(known, since, until, widest):
        for row in db.fetch_all(
            "task_rollups_between", span=span.name, start=start, end=end, task=task, limit=MAX_ROWS
        ):
            yield row["start"], row["task"], Outcome(row["outcome"]), Tally.of_row(row)
    for (start, name, outcome), tally in tail(db, known, since, until).by_task.items():
        if task is None or name == task:
            yield start, name, outcome, tally


def _by_worker(
    db: Database, since: datetime, until: datetime
) -> Iterator[tuple[int, int, Outcome, Tally]]:
    known = state(db)
    for span, start, end in pieces(known, since, until, DAY):
        rows: list[Row] = db.fetch_all(
            "worker_rollups_between", span=span.name, start=start, end=end, limit=MAX_ROWS
        )
        for row in rows:
            yield row["run_id"], row["slot"], Outcome(row["outcome"]), Tally.of_row(row)
    for (_, run_id, slot, outcome), tally in tail(db, known, since, until).by_worker.items():
        yield run_id, slot, outcome, tally


def pieces(
    known: State, since: datetime, until: datetime, widest: Span
) -> list[tuple[Span, datetime, datetime]]:
    """Split a time into stretches of the widest spans that have roll-ups for it."""
    start, end = MINUTE.floor(since), min(MINUTE.ceil(until), known.counted_until)
    return [piece for piece in _split(known, start, end, widest) if piece[1] < piece[2]]


def _split(
    known: State, start: datetime, end: datetime, widest: Span
) -> list[tuple[Span, datetime, datetime]]:
    if widest is MINUTE or start >= end:
        return [(widest, start, end)]
    narrower, reached = (HOUR, known.days_until) if widest is DAY else (MINUTE, known.hours_until)
    # What is kept no longer by narrower spans is told by wider ones, to their ends.
    gone_before = EARLIEST if narrower.kept is None else known.now - narrower.kept
    first = widest.floor(start) if start < gone_before else widest.ceil(start)
    last = widest.ceil(end) if end < gone_before else widest.floor(end)
    last = max(first, min(last, widest.floor(reached)))
    return [
        *_split(known, start, min(first, end), narrower),
        (widest, first, last),
        *_split(known, last, end, narrower),
    ]


def tail(db: Database, known: State, since: datetime, until: datetime) -> Counted:
    """Count what the roll-ups do not hold yet, up to a number of rows."""
    start = max(MINUTE.floor(since), known.counted_until)
    until = min(MINUTE.ceil(until), known.now + timedelta(seconds=1))
    if start >= until:
        return Counted()
    return minutes.count(db, start, until, most_parts=TAIL_PARTS)
