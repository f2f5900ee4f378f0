"""When a cron expression comes next, in a time zone. Times in and out are UTC, as the database's.

A time that a change of the clock leaves out comes right after it; one that comes twice, once.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from worker.errors import UsageError

FIELDS = 5


def check(expression: str, timezone: str) -> None:
    """Raise UsageError, naming the flag, for what is no cron expression or no time zone."""
    if len(expression.split()) != FIELDS:
        raise UsageError(
            f"--cron {expression!r}: write five fields (minute hour day month weekday), "
            f'such as "0 18 * * 1-5"'
        )
    try:
        zone = ZoneInfo(timezone)
    except (KeyError, ValueError, OSError):
        raise UsageError(
            f"--timezone {timezone}: there is no such time zone; write Europe/Berlin, or UTC"
        ) from None
    try:
        next(CronSim(expression, datetime.now(zone)))
    except (CronSimError, StopIteration) as error:
        raise UsageError(f"--cron {expression!r}: {error or 'it never comes'}") from None


def times_after(expression: str, timezone: str, moment: datetime) -> Iterator[datetime]:
    """Go through the times that come after a moment.

    Raises UsageError where the zone is not known, as on a machine with other time zones.
    """
    try:
        began = moment.replace(tzinfo=UTC).astimezone(ZoneInfo(timezone))
        times = CronSim(expression, began)
    except (KeyError, ValueError, OSError, CronSimError) as error:
        raise UsageError(f"{expression!r} in {timezone} cannot be read here: {error}") from None
    for found in times:
        yield found.astimezone(UTC).replace(tzinfo=None)
