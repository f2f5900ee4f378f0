"""How figures, durations and times are written on pages: for people, in one time zone."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

from markupsafe import Markup, escape

from worker.json_text import parse_stored
from worker.reasons import kept
from worker.reporting.night.zone import local_zone

NONE = "–"
CAP = 10_000
_CODE = re.compile(r"`([^`]+)`|(launcher\.py .+)")
_WRITTEN = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d+)?Z")
_UTC = re.compile(r"\b(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)Z")


@dataclass(frozen=True, slots=True)
class Clock:
    """The zone that times are written in."""

    zone: tzinfo
    name: str

    def local(self, moment: datetime) -> datetime:
        """Turn a time of the database, which is UTC, into a local one."""
        return moment.replace(tzinfo=UTC).astimezone(self.zone)

    def hour(self, moment: datetime | None) -> str:
        """Write `02:14`."""
        return NONE if moment is None else f"{self.local(moment):%H:%M}"

    def second(self, moment: datetime | None) -> str:
        """Write `02:14:07`."""
        return NONE if moment is None else f"{self.local(moment):%H:%M:%S}"

    def second_of(self, text: object) -> str:
        """Write the second of a UTC time that a program wrote; other text is left as it is."""
        found = _WRITTEN.fullmatch(str(text))
        return str(text) if found is None else self.second(datetime.fromisoformat(found[1]))

    def day(self, moment: datetime | None) -> str:
        """Write `Sat 31 Jan 17:41:09`."""
        return NONE if moment is None else f"{self.local(moment):%a %d %b %H:%M:%S}"

    def near(self, moment: datetime | None, now: datetime) -> str:
        """Write the hour, with its day where that is more than a day away."""
        if moment is None:
            return NONE
        is_near = abs(now - moment) < timedelta(days=1)
        return self.hour(moment) if is_near else self.day(moment)

    def iso(self, moment: datetime | None) -> str:
        """Write what programs read."""
        return "" if moment is None else self.local(moment).isoformat(timespec="seconds")

    def after(self, moment: datetime, seconds: float) -> str:
        """Write the hour that comes so long after a moment; what should have come is now."""
        return self.hour(moment + timedelta(seconds=max(0.0, seconds)))

    def label(self, moment: datetime) -> str:
        """Name the zone, as on the foot of every page: `Europe/Berlin (CET)`."""
        short = f"{self.local(moment):%Z}"
        return short if short == "UTC" else f"{self.name} ({short})"

    def localised(self, text: str) -> str:
        """Write the times within a sentence, which are UTC as commands tell them, as local ones."""
        return _UTC.sub(lambda found: self.day(datetime.fromisoformat(found[1])), text)


def local_clock() -> Clock:
    """Find this machine's zone, as the report does."""
    zone = local_zone()
    return Clock(zone, str(getattr(zone, "key", None) or datetime.now(zone).tzname()))


def number(value: float | None) -> str:
    """Write `33,174`."""
    return NONE if value is None else f"{value:,.0f}"


def capped(value: int, cap: int = CAP) -> str:
    """Write `9,999`, or `10,000+` for what was not counted any further."""
    return f"{cap:,}+" if value > cap else f"{value:,}"


def counted(value: int, noun: str) -> str:
    """Write `1 job` or `2 jobs`."""
    return f"{value:,} {noun}" if value == 1 else f"{value:,} {noun}s"


def duration(seconds: float | None) -> str:
    """Write `3.9 s`, `47 s`, `3 min 20 s`, `2 h 05 min` or `3 d 4 h`."""
    if seconds is None:
        return NONE
    whole = int(seconds)
    if whole < 10:
        return f"{max(seconds, 0.0):.1f} s"
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    if whole < 86400:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
    return f"{whole // 86400} d {whole % 86400 // 3600} h"


def about(seconds: float) -> str:
    """Write a duration without seconds where they say nothing: `44 s`, `6 min`, `4 h 51 min`."""
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    return f"{round(seconds / 60)} min" if whole < 3600 else duration(seconds)


def sentence(text: str) -> str:
    """Begin a reason as a sentence begins, and name sites as people do."""
    named = text.strip().replace("site:", "")
    return named[:1].upper() + named[1:]


def size(count: float) -> str:
    """Write `740 B`, `38 kB` or `1.9 MB`."""
    if count < 1000:
        return f"{count:.0f} B"
    if count < 1_000_000:
        return f"{count / 1000:.0f} kB"
    return f"{count / 1_000_000:.1f} MB"


def pretty(text: str | None) -> str:
    """Lay out stored JSON for reading; what is no JSON is left as it is."""
    if text is None:
        return ""
    try:
        parsed = parse_stored(text)
        return text if isinstance(parsed, str) else json.dumps(parsed, ensure_ascii=False, indent=2)
    except (ValueError, RecursionError, TypeError):
        return text


def plain(value: Any) -> Any:
    """Turn a database value into one that JSON knows."""
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return float(value)


def ticked(text: str) -> Markup:
    """Show as code what a text has between ticks, and commands; the rest is escaped as ever."""
    return Markup(_CODE.sub(r"<code>\1\2</code>", str(escape(text))))


def weblink(value: object) -> str:
    """Return an address that may be linked to; empty for any other, such as `javascript:…`."""
    text = value if isinstance(value, str) else ""
    return text if re.match(r"https?://[^\s/]", text) else ""


FILTERS = {
    "ticked": ticked,
    "weblink": weblink,
    "kept": kept,
    "number": number,
    "capped": capped,
    "duration": duration,
    "about": about,
    "sentence": sentence,
    "size": size,
    "pretty": pretty,
    "counted": counted,
}
