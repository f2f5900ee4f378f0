"""The spans of time that figures are kept by: minutes, hours and days of UTC."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

# The database's times are UTC and carry no zone. Nothing is older than this.
EARLIEST = datetime.fromisoformat("1970-01-01")


@dataclass(frozen=True, slots=True)
class Span:
    """One length of time; spans begin at midnight."""

    name: str
    length: timedelta
    # How long figures by this span are kept; None: for ever.
    kept: timedelta | None

    def floor(self, moment: datetime) -> datetime:
        """Give the beginning of the span that a moment is in."""
        midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
        return midnight + (moment - midnight) // self.length * self.length

    def next(self, moment: datetime) -> datetime:
        """Give the beginning of the span after the one that a moment is in."""
        return self.floor(moment) + self.length

    def ceil(self, moment: datetime) -> datetime:
        """Give the first beginning of a span that is not before a moment."""
        return moment if moment == self.floor(moment) else self.next(moment)


MINUTE = Span("minute", timedelta(minutes=1), timedelta(days=8))
HOUR = Span("hour", timedelta(hours=1), timedelta(days=400))
DAY = Span("day", timedelta(days=1), None)
