"""What is dear to work out, gathered beside the requests and kept until the next pass.

One pass at a time, which takes a twentieth of the time at most. So no page waits for a large queue,
and many viewers cost no more than one.
"""

from __future__ import annotations

import logging
import threading
import time
import traceback
from collections.abc import Callable
from typing import Generic, TypeVar

from worker.dashboard.connections import Connections
from worker.database.client import Database, DatabaseError
from worker.errors import NightshiftError
from worker.evidence.redaction import redact_text

SHARE = 0.05
LEAST_SECONDS = 5.0
# The first pass on a busy machine may take this long.
FIRST_SECONDS = 15.0
# While somebody looks, the next pass begins sooner than this after it may.
UNSEEN_SECONDS = 15.0
T = TypeVar("T")

logger = logging.getLogger("nightshift.dashboard")


class Keeper(Generic[T]):
    """The last pass, and who starts the next one."""

    def __init__(self, connections: Connections, gather: Callable[[Database], T]) -> None:
        self._connections = connections
        self._ask = gather
        self._changed = threading.Condition()
        self._known: T | None = None
        self._problem: Exception | None = None
        self._next_at = 0.0
        self._is_gathering = False
        # Passes that began, and the number that the next answer must at least have.
        self._begun = self._ended = self._wanted = 0

    def get(self, wait_seconds: float = 3.0) -> T:
        """Give what is known; the first pass, and one after `forget`, is waited for.

        So is one after nobody has looked for a while: what was true then must not be told as now.
        """
        with self._changed:
            if not self._is_gathering:
                self._begin_if_due()
            if self._known is None:
                # There is nothing older to show meanwhile.
                wait_seconds = max(wait_seconds, FIRST_SECONDS)
            self._changed.wait_for(lambda: self._ended >= max(self._wanted, 1), wait_seconds)
            if self._known is None:
                raise self._problem or NightshiftError("the queue could not be counted in time")
            return self._known

    def forget(self) -> None:
        """Have everything counted anew before it is told again: somebody has changed it."""
        with self._changed:
            self._wanted = self._begun + 1
            self._next_at = 0.0

    def _begin_if_due(self) -> None:
        late_by = time.monotonic() - self._next_at
        if late_by >= UNSEEN_SECONDS:
            self._wanted = self._begun + 1
        if late_by >= 0 or self._ended < self._wanted:
            self._start()

    def _start(self) -> None:
        self._is_gathering = True
        self._begun += 1
        threading.Thread(target=self._gather, args=(self._begun,), daemon=True).start()

    def _gather(self, number: int) -> None:
        began = time.monotonic()
        known: T | None = None
        problem: Exception | None = None
        db = self._connections.borrow()
        try:
            known = self._ask(db)
        except (NightshiftError, DatabaseError) as error:
            problem = error
        except Exception as error:  # noqa: BLE001 - pages must not wait for ever after a bug.
            told = redact_text("".join(traceback.format_exception(error)))
            logger.error("what pages tell of could not be gathered: %s", told)
            problem = error
        finally:
            self._connections.give_back(db)
        with self._changed:
            took = time.monotonic() - began
            self._known = known or self._known
            self._problem, self._ended, self._is_gathering = problem, number, False
            self._next_at = time.monotonic() + max(LEAST_SECONDS, took / SHARE)
            if self._ended < self._wanted:
                self._start()
            self._changed.notify_all()
