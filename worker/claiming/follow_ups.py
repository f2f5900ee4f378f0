"""The job that comes next in an order whose last job this worker has just ended.

Its row lies behind what searches have walked through, so it is asked for by its order.
"""

from __future__ import annotations

import time

from worker.claiming import turns
from worker.claiming.closed_keys import ClosedKeys
from worker.claiming.ready_jobs import candidate_of
from worker.claiming.turns import Order
from worker.database.client import Database
from worker.models import Candidate, Claim

MAX_AGE_SECONDS = 1.0
# What falls out of it is found by looking back.
MAX_ORDERS = 64


class FollowUps:
    """The orders that one worker may go on with."""

    def __init__(self, db: Database, closures: ClosedKeys) -> None:
        self._db = db
        self._closures = closures
        self._orders: dict[Order, tuple[float, Candidate | None]] = {}

    def note(self, claim: Claim) -> None:
        """Remember the order of a job that has ended: the next one may be ready now."""
        if (order := self._closures.orders.find(claim.order_place)) is None:
            return
        self._orders.pop(order, None)
        self._orders[order] = (float("-inf"), None)
        if len(self._orders) > MAX_ORDERS:
            del self._orders[next(iter(self._orders))]

    def has_next(self, before: Candidate | None = None) -> bool:
        """Whether there is such a job, one that comes before another if that is given."""
        return bool(self._orders) and self._best(before) is not None

    def next(self, before: Candidate | None = None) -> Candidate | None:
        """Return such a job; after its end its order is to be noted again."""
        if not self._orders or (order := self._best(before)) is None:
            return None
        return self._orders.pop(order)[1]

    def _best(self, before: Candidate | None) -> Order | None:
        self._read()
        found = [
            (_rank(candidate), order)
            for order, (_, candidate) in self._orders.items()
            if candidate is not None and not self._closures.is_left_out(candidate)
        ]
        rank, order = min(found, key=lambda each: each[0], default=(None, None))
        is_later = rank is not None and before is not None and rank > _rank(before)
        return None if is_later else order

    def _read(self) -> None:
        now = time.monotonic()
        for order, (read_at, known) in list(self._orders.items()):
            is_waiting = known is not None and self._closures.is_left_out(known)
            if is_waiting or now - read_at < MAX_AGE_SECONDS:
                continue
            row = turns.first_ready(self._db, order)
            if row is None:
                # Whoever does its next job goes on with it.
                del self._orders[order]
            else:
                self._orders[order] = (now, candidate_of(row))


def _rank(candidate: Candidate) -> tuple[int, int]:
    return candidate.priority, candidate.job_id
