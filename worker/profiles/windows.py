"""Windows: when an account's jobs may start, by the wall clocks of its time zone.

Nothing here asks what time it is: that comes from the database. Where clocks are set forward or
back, a window is what the clocks on the wall say.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from worker.errors import UsageError

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
WHOLE_DAY = 24 * 60
ZONE = "Europe/Berlin"
# Names in the time zone data that stand for no place.
NO_PLACES = frozenset({"localtime", "posixrules", "factory"})
EXAMPLE = "09:00-18:00, or mon-fri 09:00-18:00"

_WINDOW = re.compile(r"(?:([a-z][a-z ,-]*+)(?<= ))?(\d{1,2}):(\d{2}) *+- *+(\d{1,2}):(\d{2})")


@dataclass(frozen=True, slots=True)
class Window:
    """Some hours of some weekdays; one that ends before it begins goes on over midnight."""

    days: frozenset[int]
    start: int
    end: int

    def begun_on(self, day: date, minute: int) -> date | None:
        """Say on which day it has begun, if it holds a minute of a day."""
        if self.start < self.end:
            is_within = self.start <= minute < self.end
        else:
            is_within = minute >= self.start or minute < self.end
            if minute < self.end:
                day -= timedelta(days=1)
        return day if is_within and day.weekday() in self.days else None

    def __str__(self) -> str:
        hours = f"{_clock(self.start)}-{_clock(self.end)}"
        if len(self.days) == len(DAYS):
            return hours
        return f"{','.join(DAYS[day] for day in sorted(self.days))} {hours}"


@dataclass(slots=True)
class Hours:
    """All windows of an account, in its zone, and the days on which none is open or begins."""

    windows: tuple[Window, ...]
    zone: ZoneInfo
    closed_days: frozenset[date] = frozenset()
    _next: datetime | None = field(default=None, repr=False)

    def is_open(self, moment: datetime) -> bool:
        """Whether jobs may start at a moment (aware)."""
        local = moment.astimezone(self.zone)
        today, minute = local.date(), local.hour * 60 + local.minute
        if today in self.closed_days:
            return False
        begun = (window.begun_on(today, minute) for window in self.windows)
        return any(day is not None and day not in self.closed_days for day in begun)

    def opens_at(self, moment: datetime) -> datetime:
        """Say when, after a moment at which it is closed, it is open again, in its zone."""
        if self._next is None or self._next <= moment:
            self._next = self._opening_after(moment)
        return self._next.astimezone(self.zone)

    def _opening_after(self, moment: datetime) -> datetime:
        today = moment.astimezone(self.zone).date()
        # At worst, the one weekday of the only window is a closed day again and again.
        for number in range(7 * (len(self.closed_days) + 2)):
            day = today + timedelta(days=number)
            for found in sorted(self._beginnings(day)):
                if found > moment and self.is_open(found):
                    return found
        raise UsageError(f"{', '.join(map(str, self.windows))} never opens")

    def _beginnings(self, day: date) -> Iterator[datetime]:
        """List the moments of a day at which it may begin to be open."""
        for minute in {0, *(window.start for window in self.windows)}:
            wall = datetime.combine(day, time()) + timedelta(minutes=minute)
            first, second = (
                wall.replace(tzinfo=self.zone, fold=fold).astimezone(UTC) for fold in (0, 1)
            )
            yield first
            yield second
            if second < first:
                # Clocks pass over this time: they are set forward between the two.
                yield self._change_between(second, first)

    def _change_between(self, before: datetime, after: datetime) -> datetime:
        offset = before.astimezone(self.zone).utcoffset()
        while after - before > timedelta(seconds=1):
            middle = before + (after - before) / 2
            if middle.astimezone(self.zone).utcoffset() == offset:
                before = middle
            else:
                after = middle
        return after.replace(microsecond=0)


def parse_window(text: str) -> Window:
    """Read a window such as `mon-fri 09:00-18:00`; raises UsageError that says what is wrong."""
    match = _WINDOW.fullmatch(text.strip().lower())
    if match is None:
        raise UsageError(f"--window {text!r} is not understood; write {EXAMPLE}")
    start = int(match[2]) * 60 + int(match[3])
    end = int(match[4]) * 60 + int(match[5])
    if int(match[3]) > 59 or int(match[5]) > 59 or start >= WHOLE_DAY or end > WHOLE_DAY:
        raise UsageError(f"--window {text!r}: there is no such time; a day is 00:00-24:00")
    if start == end:
        raise UsageError(f"--window {text!r} never opens; for the whole day write 00:00-24:00")
    return Window(_weekdays(match[1], text), start, end)


def parse_day(text: str) -> date:
    """Read a day such as 2026-12-25."""
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        raise UsageError(f"--except {text!r} is not a day; write 2026-12-25") from None


def find_zone(name: str) -> ZoneInfo:
    """Find a time zone by its name; raises UsageError for one that is not known here."""
    if name.lower() in NO_PLACES:
        raise UsageError(f"time zone {name!r} is another on each machine; write one as {ZONE}")
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        known = available_timezones()
    if not known:
        raise UsageError(
            f"time zone {name!r} cannot be looked up: this machine has no time zone data; "
            f"install the package tzdata"
        )
    by_lower = {zone.lower(): zone for zone in known}
    close = difflib.get_close_matches(name.lower(), by_lower, 1)
    meant = f"; did you mean {by_lower[close[0]]}?" if close else f"; write one as {ZONE}"
    raise UsageError(f"unknown time zone {name!r}{meant}")


def _weekdays(text: str | None, window: str) -> frozenset[int]:
    if text is None:
        return frozenset(range(len(DAYS)))
    found: set[int] = set()
    for part in text.replace(" ", "").split(","):
        first, _, last = part.partition("-")
        if first not in DAYS or (last or first) not in DAYS:
            raise UsageError(f"--window {window!r}: {part!r} is no weekday; use {', '.join(DAYS)}")
        begin, end = DAYS.index(first), DAYS.index(last or first)
        found |= {(begin + step) % 7 for step in range((end - begin) % 7 + 1)}
    return frozenset(found)


def _clock(minute: int) -> str:
    return f"{minute // 60:02d}:{minute % 60:02d}"
