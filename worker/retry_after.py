"""How long a server asks us to stay away: what its Retry-After header says, in seconds."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

LONGEST_WAIT_SECONDS = 30 * 86400.0
# One answer may keep its own job away for long, but not everybody else's.
LONGEST_SHARED_SECONDS = 3600.0


def shared_wait_seconds(retry_after: float | None) -> float:
    """Say for how long one answer's Retry-After holds back what other jobs need as well."""
    return min(retry_after or 0.0, LONGEST_SHARED_SECONDS)


def retry_after_seconds(text: str, now: datetime | None = None) -> float | None:
    """Read seconds or a date; None when it is neither, or nothing."""
    try:
        seconds = float(text)
    except ValueError:
        return _until(text, now or datetime.now(UTC))
    if math.isnan(seconds) or seconds < 0:
        return None
    return min(seconds, LONGEST_WAIT_SECONDS)


def _until(text: str, now: datetime) -> float | None:
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    # A date without a zone is in UTC, as HTTP wants it.
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return min(max(0.0, (moment - now).total_seconds()), LONGEST_WAIT_SECONDS)
