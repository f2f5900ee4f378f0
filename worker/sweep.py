"""Putting jobs of vanished workers right: a claim that has outlived its lease has no owner.

Each job is settled under its fence and only if its lease is still expired, so that a sweep can run
at any time, anywhere, beside any number of others.
"""

from __future__ import annotations

from dataclasses import dataclass

from worker.database import Database, Row
from worker.errors import ClaimLost
from worker.models import Claim, Explanation, Outcome, Status
from worker.queue import Queue, Settlement

SWEEP_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Swept:
    """What the sweep did, or would do, to one job."""

    job_id: int
    status: Status
    reason: str


def sweep(db: Database, queue: Queue, *, dry_run: bool = False) -> list[Swept]:
    """Return every ownerless job to pending, or end it as an error at its cap."""
    swept: list[Swept] = []
    after = 0
    while True:
        expired = db.fetch_all("expired_claims", after=after, limit=SWEEP_AT_ONCE)
        found = [_sweep_one(queue, row, dry_run) for row in expired]
        swept += [item for item in found if item is not None]
        if len(expired) < SWEEP_AT_ONCE:
            return swept
        after = expired[-1]["id"]


def settle_for_the_dead(
    db: Database, queue: Queue, incarnation: int, outcome: Outcome, ending: str
) -> list[Swept]:
    """Settle what a dead worker held: handed back when we ended it, else an attempt spent."""
    settled = []
    for row in db.fetch_all("claims_of_incarnation", incarnation=incarnation):
        claim = _claim(queue, row)
        why = Explanation(f"worker {row['worker_id']} died: {ending}")
        try:
            if outcome is Outcome.HANDED_BACK:
                status = queue.hand_back(claim, Explanation(ending))
            elif outcome is Outcome.CRASHED:
                status = queue.crash(claim, why, delay_seconds=None)
            else:
                status = queue.retry(claim, why, delay_seconds=None, outcome=outcome)
        except ClaimLost:
            continue
        settled.append(Swept(claim.job_id, status, why.reason))
    return settled


def _sweep_one(queue: Queue, row: Row, dry_run: bool) -> Swept | None:
    claim = _claim(queue, row)
    status = Status.ERROR if claim.is_last_attempt else Status.PENDING
    reason = (
        f"worker {row['worker_id']} vanished: its claim was not renewed "
        f"and ended {row['overdue_seconds']} s ago"
    )
    if status is Status.ERROR:
        reason += f" (attempt {claim.attempt} of {claim.max_attempts}, no more)"
    if not dry_run:
        settlement = Settlement(Outcome.SWEPT, status, Explanation(reason))
        try:
            queue.settle(claim, settlement, only_if_expired=True)
        except ClaimLost:
            # Another sweep was faster, or its worker has come back in time.
            return None
    return Swept(claim.job_id, status, reason)


def _claim(queue: Queue, row: Row) -> Claim:
    return Claim(
        job_id=row["id"],
        fence=row["fence"],
        attempt=row["attempts"],
        max_attempts=row["max_attempts"] or queue.max_attempts,
        task=row["task"],
        payload="",
    )
