"""What a run leaves behind that is ready and cannot be claimed: how many jobs, and why.

Counted once, at the end of a run, stretch by stretch and for a few seconds at most.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from worker.claiming import turns
from worker.claiming.closed_keys import ClosedKeys
from worker.claiming.ready_jobs import Level, ReadyJobs
from worker.database.client import Database, Row
from worker.guards.keys import ClosedKey, keys_of
from worker.models import Candidate, Partition

COUNT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class HeldBack:
    """So many jobs, or more, that one closed key holds back."""

    key: str
    reason: str
    jobs: int
    or_more: bool = False

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def count(
    db: Database, slots: range | None = None, total: int = 1, seconds: float = COUNT_SECONDS
) -> list[HeldBack]:
    """Count the held-back jobs by reason, most first; those of some slots, or of all.

    A job that several keys hold back counts for the one that opens last.
    """
    closures = ClosedKeys(db)
    closures.refresh()
    if not closures.closed and not closures.orders.conditions()[0]:
        return []
    found: Counter[str] = Counter()
    closed: dict[str, ClosedKey] = {}
    deadline = time.monotonic() + seconds
    is_complete = True
    for row in _all_groups(db, slots, total):
        # Whatever happens, there is one look: nobody is told of nothing while jobs are held back.
        is_complete = not found or time.monotonic() < deadline
        if not is_complete:
            break
        job = _job_of(row)
        if (closure := _closure_of(job, closures)) is not None:
            culprit = closure.key
        elif (closure := _turn_of(db, job, closures)) is not None:
            # An ordered account has several places, and all wait for the same job.
            culprit = closure.reason if closure.seconds is None else closure.key
        if closure is not None:
            closed.setdefault(culprit, closure)
            found[culprit] += row["jobs"]
    return [
        HeldBack(closed[culprit].key, closed[culprit].reason, jobs, or_more=not is_complete)
        for culprit, jobs in found.most_common()
    ]


def _all_groups(db: Database, slots: range | None, total: int) -> Iterator[Row]:
    for level, after, until in _stretches(ReadyJobs(db, Partition(0, total))):
        yield from _groups(db, level.priority, after, until, slots, total)


def _stretches(ready: ReadyJobs) -> Iterator[tuple[Level, int, int]]:
    level = ready.next_level(None)
    while level is not None:
        after = level.first - 1
        while after < level.last:
            until = ready.end_of_stretch(after, level.last)
            yield level, after, until
            after = until
        level = ready.next_level(level)


def _groups(
    db: Database, priority: int, after: int, until: int, slots: range | None, total: int
) -> list[Row]:
    where = {} if slots is None else {"slots": tuple(slots), "total": total}
    conditions = () if slots is None else ("ids_of_slots",)
    return db.fetch_all(
        "ready_groups", conditions, priority=priority, after=after, until=until, **where
    )


def _job_of(row: Row) -> Candidate:
    return Candidate(
        job_id=row["last_id"],
        version="",
        fence=0,
        attempts=0,
        max_attempts=None,
        task=row["task"],
        payload="",
        timeout_seconds=None,
        was_done=False,
        site=row["site"],
        profile_id=row["profile"],
        account_id=row["account"],
        order_place=row["order_place"],
    )


def _turn_of(db: Database, job: Candidate, closures: ClosedKeys) -> ClosedKey | None:
    """Say what the last of some jobs of an order waits for, if it is in one."""
    order = closures.orders.find(job.order_place)
    turn = None if order is None else turns.judge(db, job, order)
    return turn if isinstance(turn, ClosedKey) else None


def _closure_of(job: Candidate, closures: ClosedKeys) -> ClosedKey | None:
    found = [closures.closed[key] for key in keys_of(job) if key in closures.closed]
    return max(found, key=_opens_in_seconds, default=None)


def _opens_in_seconds(closure: ClosedKey) -> float:
    return float("inf") if closure.seconds is None else closure.seconds
