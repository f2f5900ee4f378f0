"""Something that the heart does again and again, on time unless it is costly."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

from worker.errors import RowsLocked

MAX_REST_SECONDS = 30.0

logger = logging.getLogger("nightshift.heart")


@dataclass(slots=True)
class Chore:
    """One duty; what is costly gets a hundredth of the time."""

    every_seconds: float
    do: Callable[[], object]
    is_costly: bool = False
    next_at: float = 0.0

    def run_if_due(self) -> None:
        """Do it, if its time has come."""
        began = time.monotonic()
        if began < self.next_at:
            return
        try:
            self.do()
        except RowsLocked as error:
            # It is done the next time: the other chores need not wait for a row that is held.
            logger.info("a chore was put off: %s", error)
        self.next_at = began + self.every_seconds
        if self.is_costly:
            # Counting a million rows may use a hundredth of the time. What took long because the
            # database did not answer is no costlier for that, and renewals must never wait for it.
            took = time.monotonic() - began
            self.next_at = max(self.next_at, began + min(100 * took, MAX_REST_SECONDS))
