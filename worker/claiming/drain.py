"""Whether a worker that finds nothing may go home, or has something to wait for.

Asked again and again by idle workers, so cheap things come first, and all of it keeps to a small
share of the time. What becomes of the jobs that are left is said by held_back.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from worker.claiming.candidates import Candidates
from worker.claiming.closed_keys import ClosedKeys
from worker.claiming.ready_jobs import ReadyJobs, Ring
from worker.claiming.scope import Scope
from worker.claiming.search_allowance import rest_seconds
from worker.database.client import Database
from worker.models import Candidate, Outlook, Partition
from worker.queue.claims import Queue

# As long as something is held back that is waited for, nobody asks more often.
_HELD_BACK_SECONDS = 2.0
# How many rows are read at most to count the jobs of some queues.
COUNTED = 300_000
A_LONG_TIME_SECONDS = 10 * 365 * 86400.0


class Drain:
    """The end of a run, as one worker sees it."""

    def __init__(
        self,
        db: Database,
        partition: Partition,
        closures: ClosedKeys,
        candidates: Candidates,
        *,
        help_others: bool,
        wait_seconds: float,
        is_stopping: Callable[[], bool] = lambda: False,
    ) -> None:
        self._db = db
        self._partition = partition
        self._closures = closures
        self._candidates = candidates
        self._ready_jobs = ReadyJobs(db, partition)
        self._ring = Ring.ANY if help_others else Ring.OWN
        self._wait_seconds = wait_seconds
        self._is_stopping = is_stopping
        self._ask_at = 0.0

    def is_over(self) -> bool:
        """Whether nothing is in progress, comes due in time, or is held back for a while only."""
        began = time.monotonic()
        if began < self._ask_at:
            return False
        is_over = self._has_nothing_to_expect()
        now = time.monotonic()
        self._ask_at = max(self._ask_at, now + rest_seconds(now - began))
        return is_over

    def _has_nothing_to_expect(self) -> bool:
        coming = outlook(
            self._db,
            None if self._ring is Ring.ANY else self._partition,
            self._closures.scope,
            self._wait_seconds,
        )
        due = coming.next_due_seconds
        if coming.has_in_progress or (due is not None and due <= self._wait_seconds):
            return False
        if not coming.has_ready:
            return True
        self._closures.refresh()
        job = self._first_to_wait_for()
        if job is not None and self._closures.is_left_out(job):
            self._ask_at = time.monotonic() + _HELD_BACK_SECONDS
        elif job is not None:
            self._candidates.look_everywhere()
        if job is not None or self._candidates.hopeless.look_through(self._is_stopping):
            return False
        return not self._is_stopping()

    def _first_to_wait_for(self) -> Candidate | None:
        """Find a ready job that nothing holds back, or only what opens by itself and in time."""
        lasting = ClosedKeys(self._db, self._closures.scope)
        lasting.has_strangers = self._closures.has_strangers
        lasting.closed = {
            key: closure
            for key, closure in self._closures.closed.items()
            if closure.seconds is None or closure.seconds > self._wait_seconds
        }
        lasting.orders = self._closures.orders
        if lasting.is_all_closed:
            return None
        for job in self._ready_jobs.first(self._ring, lasting):
            if job is not None or self._is_stopping():
                return job
        return None


def unfinished(db: Database, scope: Scope) -> dict[str, int]:
    """Count pending, in-progress and, among the pending, waiting jobs of a run's own.

    All jobs are counted from the index alone. For some queues rows have to be read: then it is a
    lower bound where very many jobs are pending.
    """
    if scope.queues is None:
        return Queue(db).unfinished()
    row = db.fetch_all("count_own_unfinished", own_queues=scope.queues, at_most=COUNTED)[0]
    return {name: int(row[name]) for name in ("pending", "in_progress", "waiting")}


def outlook(
    db: Database,
    partition: Partition | None = None,
    scope: Scope | None = None,
    seconds: float = A_LONG_TIME_SECONDS,
) -> Outlook:
    """Say what is still to come, in one partition or in all, from a few rows of the index.

    Of jobs that wait only those are looked at that come due within `seconds`. What is ready may be
    another run's: whoever wants to know looks for it.
    """
    where: dict[str, Any] = {**(scope or Scope()).choices(), "seconds": seconds}
    conditions: tuple[str, ...] = ()
    if partition is not None:
        conditions = Ring.OWN.conditions
        where |= {"slot": partition.slot, "total": partition.total}
    row = db.fetch_all("outlook", conditions, **where)[0]
    due = row["next_due_seconds"]
    return Outlook(
        has_ready=bool(row["has_ready"]),
        has_in_progress=bool(row["has_in_progress"]),
        next_due_seconds=None if due is None else float(due),
    )
