"""What a run leaves behind that is ready and cannot be claimed: how many jobs, and why.

Counted once, at the end of a run, stretch by stretch and for a few seconds at most.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from worker.claiming import turns
from worker.claiming.closed_keys import ClosedKeys
from worker.claiming.ready_jobs import ReadyJobs
from worker.claiming.scope import Scope, absence, of_live_runs, of_onlookers
from worker.database.client import Database, Row
from worker.guards import breakers
from worker.guards.keys import ClosedKey
from worker.models import Candidate, Partition
from worker.queue_names import as_compared
from worker.recovery import live_runs
from worker.urls import host_or_none

COUNT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class HeldBack:
    """How many jobs, at least, one closed key holds back."""

    key: str
    reason: str
    jobs: int
    or_more: bool = False

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def count(
    db: Database,
    slots: range | None = None,
    total: int = 1,
    seconds: float = COUNT_SECONDS,
    scope: Scope | None = None,
) -> list[HeldBack]:
    """Count the held-back jobs by reason, most first; those of some slots, or of all.

    `scope` says whose: jobs of its queues whose task it does not know are held back. Without one,
    those that no run at work would take. A job that several keys hold back counts for the one that
    opens last.
    """
    live = _live_scopes(db) if scope is None else []
    closures = ClosedKeys(db, of_onlookers(db) if scope is None else scope)
    closures.refresh()
    canaries = breakers.awaiting_canaries(db) if closures.tripped else {}
    has_orders = bool(closures.orders.conditions()[0])
    if not (closures.closed or canaries or has_orders or live or closures.scope.is_limited):
        return []
    found: Counter[str] = Counter()
    closed: dict[str, ClosedKey] = {}
    deadline = time.monotonic() + seconds
    is_complete = True
    for row in _all_groups(db, slots, total, closures.scope):
        # Whatever happens, there is one look: nobody is told of nothing while jobs are held back.
        is_complete = not found or time.monotonic() < deadline
        if not is_complete:
            break
        job = _job_of(row)
        holder = _holder_of(db, job, closures, live) or _awaited_canary(job, closures, canaries)
        if holder is not None:
            culprit, closure = holder
            closed.setdefault(culprit, closure)
            found[culprit] += row["jobs"]
    for name in closed.keys() & {closure.key for closure in canaries.values()}:
        # The next one may be claimed.
        found[name] -= 1
    return _told(found, closed, is_complete)


def _told(
    found: Counter[str], closed: Mapping[str, ClosedKey], is_complete: bool
) -> list[HeldBack]:
    return [
        HeldBack(closed[culprit].key, closed[culprit].reason, jobs, or_more=not is_complete)
        for culprit, jobs in found.most_common()
        if jobs
    ]


def _holder_of(
    db: Database, job: Candidate, closures: ClosedKeys, live: list[Scope]
) -> tuple[str, ClosedKey] | None:
    """Find what holds a job back, and under which name its jobs are counted together."""
    closure = closures.scope.unknown(job) or absence(live, job) or _closure_of(job, closures)
    if closure is not None:
        return closure.key, closure
    if (turn := _turn_of(db, job, closures)) is None:
        return None
    # An ordered account has several places, and all wait for the same job.
    return turn.reason if turn.seconds is None else turn.key, turn


def _awaited_canary(
    job: Candidate, closures: ClosedKeys, canaries: Mapping[str, ClosedKey]
) -> tuple[str, ClosedKey] | None:
    """Find an open breaker whose time to check has come: only one job of its key can start."""
    if not canaries:
        return None
    found = next((canaries[key] for key in closures.keys_of(job) if key in canaries), None)
    return None if found is None else (found.key, found)


def _live_scopes(db: Database) -> list[Scope]:
    """What the runs at work do, or the latest one did, if there are jobs that it does not do."""
    live = of_live_runs(db) or of_live_runs(db, live_runs.newest(db, 1))
    has_strangers = any(
        run.pulse.get("has_strangers") or (run.summary or {}).get("held_back") for run, _ in live
    )
    return [scope for _, scope in live] if has_strangers else []


def _all_groups(db: Database, slots: range | None, total: int, scope: Scope) -> Iterator[Row]:
    conditions, where = scope.queue_conditions()
    if slots is not None:
        conditions = (*conditions, "ids_of_slots")
        where |= {"slots": tuple(slots), "total": total}
    for priority, after, until in ReadyJobs(db, Partition(0, total)).stretches():
        yield from db.fetch_all(
            "ready_groups", conditions, priority=priority, after=after, until=until, **where
        )


def _job_of(row: Row) -> Candidate:
    return Candidate(
        job_id=row["last_id"],
        version="",
        fence=0,
        attempts=0,
        max_attempts=None,
        task=as_compared(row["task"]),
        payload="",
        timeout_seconds=None,
        was_done=False,
        site=host_or_none(row["site"]),
        profile_id=row["profile"],
        account_id=row["account"],
        order_place=row["order_place"],
        queue=as_compared(row["queue"]),
    )


def _turn_of(db: Database, job: Candidate, closures: ClosedKeys) -> ClosedKey | None:
    """Say what the last of some jobs of an order waits for, if it is in one."""
    order = closures.orders.find(job.order_place)
    turn = None if order is None else turns.judge(db, job, order)
    return turn if isinstance(turn, ClosedKey) else None


def _closure_of(job: Candidate, closures: ClosedKeys) -> ClosedKey | None:
    found = [closures.closed[key] for key in closures.closed_keys_of(job)]
    return max(found, key=_opens_in_seconds, default=None)


def _opens_in_seconds(closure: ClosedKey) -> float:
    return float("inf") if closure.seconds is None else closure.seconds
