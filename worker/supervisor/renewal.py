"""Keeps for a run what it holds: claims and profile leases of living workers, locks, its beat.

Claims and leases come first, each row by itself where one is held by somebody, and tell the
launcher that its workers may go on. Locks and beat fail by themselves and are done the next time.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from worker.database.client import Database
from worker.database.locks import Lock
from worker.errors import RowsLocked
from worker.profiles import leases
from worker.queue import runs
from worker.queue.claims import Queue
from worker.supervisor.bookkeeping import Bookkeeping
from worker.system.board import Board

logger = logging.getLogger("nightshift.heart")


@dataclass(frozen=True, slots=True)
class Renewal:
    """What one run's heart renews."""

    db: Database
    queue: Queue
    board: Board
    books: Bookkeeping
    locks: tuple[Lock, ...] = ()

    def renew(self) -> None:
        """Renew everything once."""
        began = time.monotonic()
        entries = [entry.snapshot() for entry in self.board.entries]
        self.queue.renew(
            [(e.job_id, e.fence, e.incarnation) for e in entries if e.job_id is not None]
        )
        living = [entry.incarnation for entry in entries if entry.incarnation]
        leases.renew(self.db, living, self.queue.lease_seconds)
        self.board.header.renewed_at = began
        for lock in self.locks:
            self._or_later(f"the lock {lock.kind}", partial(lock.take, self.db))
        self._or_later("the run's row", self.beat)

    def beat(self) -> None:
        """Tell that the launcher lives, and what its workers are at."""
        runs.beat(self.db, self.books.run_id, self.books.pulse())

    def _or_later(self, what: str, do: Callable[[], object]) -> None:
        try:
            with self.db.passing_locks():
                do()
        except RowsLocked as error:
            logger.info("%s is renewed later: %s", what, error)
