"""Hours put together out of minutes, days out of hours, and what is too old removed."""

from __future__ import annotations

from datetime import datetime

from worker.database.client import Database
from worker.models import Outcome
from worker.queue import events
from worker.reporting.minutes import Counted
from worker.reporting.spans import DAY, EARLIEST, HOUR, MINUTE, Span
from worker.reporting.tally import Tally
from worker.reporting.writer import Stretch

EVENTS_KEPT_DAYS = 90
# What one call removes: a few milliseconds.
REMOVED_AT_ONCE = 2000


def next_stretch(
    db: Database, wide: Span, narrow: Span, reached: datetime | None, ready: datetime
) -> Stretch | None:
    """Put the next hour or day together whose parts are all there; None when there is none.

    Where nothing ended for long, the stretch reaches from there over all of that time.
    """
    ready = wide.floor(ready)
    start = reached
    row = db.fetch_one("first_rollup", span=narrow.name, start=start or EARLIEST)
    if start is None:
        if row is None:
            return None
        start = wide.floor(row["start"])
    if start >= ready:
        return None
    if row is None or row["start"] >= ready:
        return Stretch(wide, start, ready, Counted())
    first = wide.floor(row["start"])
    return Stretch(wide, start, wide.next(first), _gather(db, narrow, first, wide.next(first)))


def remove_old(db: Database, now: datetime, hours_until: datetime, days_until: datetime) -> int:
    """Remove minutes and hours that wider roll-ups hold, and old events; return how many."""
    removed = events.forget_old(db, EVENTS_KEPT_DAYS, REMOVED_AT_ONCE)
    for span, wide, reached in ((MINUTE, HOUR, hours_until), (HOUR, DAY, days_until)):
        assert span.kept is not None
        # Only whole hours and days go, so that a wider roll-up never lacks a part.
        before = min(reached, wide.floor(now - span.kept))
        for name in ("forget_task_rollups", "forget_worker_rollups"):
            removed += db.execute(name, span=span.name, before=before, at_most=REMOVED_AT_ONCE)
    return removed


def _gather(db: Database, narrow: Span, start: datetime, end: datetime) -> Counted:
    counted = Counted()
    for row in db.fetch_all("task_rollups_of", span=narrow.name, start=start, end=end):
        counted.note_task((start, row["task"], Outcome(row["outcome"])), Tally.of_row(row))
    for row in db.fetch_all("worker_rollups_of", span=narrow.name, start=start, end=end):
        key = (start, row["run_id"], row["slot"], Outcome(row["outcome"]))
        counted.note_worker(key, Tally.of_row(row))
    return counted
