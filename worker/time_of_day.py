"""Times of day as a person gives them: `06:00`, by the local clock."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from worker.errors import UsageError


def seconds_until(clock: str, now: datetime) -> float:
    """Return the time to the next moment at which the local clock shows `HH:MM`."""
    match = re.fullmatch(r"([01]?\d|2[0-3]):([0-5]\d)", clock.strip())
    if match is None:
        raise UsageError(f"--until {clock} is not a time of day; write it as 06:00")
    # Without a zone it is the local clock's own time, which knows of the hour changed overnight.
    local = now.replace(tzinfo=None)
    then = local.replace(hour=int(match[1]), minute=int(match[2]), second=0, microsecond=0)
    if then <= local:
        then += timedelta(days=1)
    return then.timestamp() - now.timestamp()
