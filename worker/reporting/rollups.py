"""The duty that keeps the roll-ups: counts closed minutes, puts hours and days together, thins out.

One writer at a time, by a lease with a fence in the database. Everything can be done again: a
minute is counted when it closes and once more when late commits have come in, and a killed writer
leaves nothing half done. Each call does a bounded piece of work.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from worker.database.client import Database
from worker.reporting import minutes, thinning
from worker.reporting.minutes import Counted
from worker.reporting.spans import DAY, EARLIEST, HOUR, MINUTE
from worker.reporting.writer import Progress, Stretch, Writer

# A minute is counted this long after its end: nearly all its commits have come by then.
CLOSING = timedelta(seconds=3)
# A commit may come later than the time it wrote by as long as its client waits; this is more.
LATE = timedelta(seconds=60)
# Removing what is too old can wait.
REMOVE_SECONDS = 60.0
# What one piece of work may take: leases are renewed between two of them.
PLANNED_SECONDS = 0.5
MIN_ROWS = 500


@dataclass(slots=True)
class Rollups:
    """One who keeps the roll-ups: a heart, or a command that brings them up to date."""

    writer: Writer
    _remove_at: float = 0.0
    _rows: int = minutes.ROWS_AT_ONCE

    @classmethod
    def of(cls, db: Database, owner: str) -> Rollups:
        """Be ready to keep them; `owner` says for people who it is."""
        return cls(Writer(db, owner))

    def beat(self) -> bool:
        """Do the next piece of work, if this is the writer; tell whether more waits to be done."""
        held = self.writer.hold()
        if held is None:
            return False
        return self._go_on(*held)

    def release(self) -> None:
        """Let another one write, at once."""
        self.writer.release()

    def rebuild(self, since: datetime, tell: Callable[[datetime], None] = lambda _: None) -> bool:
        """Work everything out anew from the day of a moment on; `tell` hears how far it is.

        Jobs that somebody has deleted meanwhile are in no figure any more. Returns False when
        another one has become the writer.
        """
        held = self.writer.hold(by_force=True)
        if held is None or not self.writer.write(None, _back_to(held[1], DAY.floor(since))):
            return False
        self._remove_at = 0.0
        while (held := self.writer.hold()) is not None:
            tell(held[1].counted_until or held[0])
            if not self._go_on(*held):
                self.release()
                return True
        return False

    def _go_on(self, now: datetime, progress: Progress) -> bool:
        return (
            self._count(now, progress)
            or self._put_together(progress)
            or self._remove(now, progress)
        )

    def _count(self, now: datetime, progress: Progress) -> bool:
        """Count the next minutes that have closed; tell whether there were any."""
        target = MINUTE.floor(now - CLOSING)
        if progress.counted_until is not None and progress.counted_until >= target:
            return False
        start = progress.settled_until
        first = minutes.first_end(self.writer.db, start or EARLIEST)
        if start is None:
            if first is None or first >= target:
                return False
            start = MINUTE.floor(first)
        if first is None or first >= target:
            # Nothing has ended since: what there was of a recount is removed all the same.
            stretch = Stretch(MINUTE, start, target, Counted())
        else:
            first = max(start, MINUTE.floor(first))
            stretch = Stretch(MINUTE, start, *self._counted(first, target))
        settled = max(start, min(stretch.end, MINUTE.floor(now - LATE)))
        moved = replace(progress, counted_until=stretch.end, settled_until=settled)
        return self.writer.write(stretch, moved)

    def _counted(self, start: datetime, target: datetime) -> tuple[datetime, Counted]:
        """Count whole minutes, at least one, with as many rows as take no longer than planned."""
        began = time.monotonic()
        db, rows = self.writer.db, self._rows
        # If the server breaks it off, the next try is a smaller one.
        self._rows = max(MIN_ROWS, rows // 4)
        end = minutes.end_of_stretch(db, start, target, rows)
        counted = minutes.count(db, start, end, rows=rows)
        took = time.monotonic() - began
        self._rows = rows if took <= PLANNED_SECONDS else self._rows
        if took < PLANNED_SECONDS / 4:
            self._rows = min(minutes.ROWS_AT_ONCE, 2 * rows)
        return end, counted

    def _put_together(self, progress: Progress) -> bool:
        """Put the next hour or day together; tell whether there was one."""
        db = self.writer.db
        if progress.settled_until is None:
            return False
        hour = thinning.next_stretch(db, HOUR, MINUTE, progress.hours_until, progress.settled_until)
        if hour is not None:
            return self.writer.write(hour, replace(progress, hours_until=hour.end))
        if progress.hours_until is None:
            return False
        day = thinning.next_stretch(db, DAY, HOUR, progress.days_until, progress.hours_until)
        if day is not None:
            return self.writer.write(day, replace(progress, days_until=day.end))
        return False

    def _remove(self, now: datetime, progress: Progress) -> bool:
        if time.monotonic() < self._remove_at:
            return False
        removed = thinning.remove_old(
            self.writer.db, now, progress.hours_until or EARLIEST, progress.days_until or EARLIEST
        )
        if not removed:
            self._remove_at = time.monotonic() + REMOVE_SECONDS
        return removed > 0


def _back_to(progress: Progress, day: datetime) -> Progress:
    """Go back to a day, with all that was put together out of what is counted anew."""
    if progress.counted_until is None or day >= progress.counted_until:
        return progress
    hours, days = progress.hours_until or day, progress.days_until
    return Progress(day, day, min(hours, day), None if days is None else min(days, day))
