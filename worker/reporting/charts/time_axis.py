"""The time axis of a chart: from when to when, where a moment is, which times are written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

from worker.reporting.charts.svg import element, percent

MOST_TICKS = 13
# How many of them a phone has room for.
ON_A_PHONE = 4
_MINUTES = (1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 10080)


@dataclass(frozen=True, slots=True)
class TimeAxis:
    """From when to when (UTC, as the database has it), written in a zone's time."""

    start: datetime
    end: datetime
    zone: tzinfo
    step: timedelta

    @classmethod
    def around(cls, start: datetime, end: datetime, zone: tzinfo) -> TimeAxis:
        """Make an axis that begins and ends at a written time and holds both moments."""
        end = max(end, start + timedelta(minutes=1))
        needed = (end - start).total_seconds() / 60 / (MOST_TICKS - 1)
        step = timedelta(minutes=next((m for m in _MINUTES if m >= needed), needed))
        first = _floor(start, step, zone)
        last = _floor(end, step, zone)
        return cls(first, last if last >= end else last + step, zone, step)

    @property
    def seconds(self) -> float:
        """How long it is."""
        return (self.end - self.start).total_seconds()

    def share(self, moment: datetime) -> float:
        """Tell where a moment is: 0 at the start, 1 at the end, and never outside."""
        share = (moment - self.start).total_seconds() / self.seconds
        return min(max(share, 0.0), 1.0)

    def at(self, moment: datetime) -> str:
        """Tell the same as a percentage."""
        return percent(self.share(moment))

    def text(self, moment: datetime) -> str:
        """Write a moment as the axis does."""
        local = moment.replace(tzinfo=UTC).astimezone(self.zone)
        return f"{local:%d %b}" if self.step >= timedelta(days=1) else f"{local:%H:%M}"

    def ticks(self) -> list[datetime]:
        """List the moments that are written."""
        count = round((self.end - self.start) / self.step)
        return [self.start + index * self.step for index in range(count + 1)]


def written(axis: TimeAxis, y: float, top: float, bottom: float, line: str = "grid") -> str:
    """Draw the ticks from top to bottom and write their times at y."""
    return "".join(_written(axis, y, top, bottom, line))


def _written(axis: TimeAxis, y: float, top: float, bottom: float, line: str) -> Iterator[str]:
    ticks = axis.ticks()
    last = len(ticks) - 1
    stride = max(1, -(-last // ON_A_PHONE))
    stride += stride % 2 if stride > 1 else 0
    for index, moment in enumerate(ticks):
        x = axis.at(moment)
        yield element("line", class_=line, x1=x, x2=x, y1=top, y2=bottom)
        classes = "" if index == 0 else "end" if index == last else "mid"
        if index % stride and index != last:
            classes += " wide odd" if index % 2 or index == last - 1 else " wide"
        elif index not in (0, last) and last - index < stride:
            # Too close to the last one, which is always written.
            classes += " wide odd"
        yield f'<text class="{classes.strip()}" x="{x}" y="{y:g}">{axis.text(moment)}</text>'


def _floor(moment: datetime, step: timedelta, zone: tzinfo) -> datetime:
    local = moment.replace(tzinfo=UTC).astimezone(zone)
    # By the wall clock within the day: an hour that a summer time skips makes no odd minutes.
    passed = timedelta(hours=local.hour, minutes=local.minute, seconds=local.second)
    passed += timedelta(microseconds=local.microsecond)
    return moment - (passed % step if step <= timedelta(days=1) else passed)
