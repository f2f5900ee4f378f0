"""How much of the time may go into looking where there is probably nothing.

Looking for jobs that cannot be had must cost next to nothing, however long one look takes.
"""

from __future__ import annotations

import time

SHARE = 0.02
# What was not used for a while may be used at once, so that news is acted on soon.
SAVED_SECONDS = 1.0
# On a busy server one look may take very long; it is not paid off for ever.
DEBT_SECONDS = 0.2


def rest_seconds(took_seconds: float) -> float:
    """Say how long to wait after a search that took `took_seconds` and found nothing."""
    return took_seconds / SHARE


class Allowance:
    """The time one worker may still spend on looks in vain: it grows slowly, up to a limit."""

    def __init__(self) -> None:
        self._saved = SAVED_SECONDS
        self._counted_at = time.monotonic()

    def spend(self, seconds: float) -> None:
        """Note a look in vain."""
        self._count()
        self._saved = max(self._saved - seconds, -DEBT_SECONDS)

    def is_left(self) -> bool:
        """Whether there may be another one now."""
        self._count()
        return self._saved > 0

    def _count(self) -> None:
        now = time.monotonic()
        earned = (now - self._counted_at) * SHARE
        self._saved = min(self._saved + earned, SAVED_SECONDS)
        self._counted_at = now
