"""The local time zone, by its name: the database's times are UTC, people's are not."""

from __future__ import annotations

import os
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

LOCALTIME = Path("/etc/localtime")


def local_zone() -> tzinfo:
    """Find this machine's zone; where it has no name, its present distance from UTC must do."""
    name = os.environ.get("TZ", "").lstrip(":") or _linked()
    try:
        return ZoneInfo(name) if name else _present()
    except (KeyError, ValueError, OSError):
        # `UTC0`, or a name that is misspelt: no zone is called so.
        return _present()


def zone_name(zone: tzinfo, moment: datetime) -> str:
    """Write `Europe/Berlin (CET)`, as it is at a moment."""
    short = moment.replace(tzinfo=UTC).astimezone(zone).tzname() or "UTC"
    key = getattr(zone, "key", short)
    return key if key == short else f"{key} ({short})"


def _linked() -> str:
    """Read the zone's name off the link that most systems have."""
    target = str(LOCALTIME.resolve())
    return target.partition("/zoneinfo/")[2]


def _present() -> tzinfo:
    zone = datetime.now().astimezone().tzinfo
    return UTC if zone is None else zone
