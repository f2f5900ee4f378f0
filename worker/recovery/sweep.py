"""Putting the jobs of vanished workers right.

A claim has no owner when its process provably lives no more, or when it has outlived its lease.
Every settlement is fenced, so a sweep can run at any time, anywhere, beside any number of others.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from worker.database.client import Database, Row
from worker.errors import ClaimLost
from worker.models import Claim, Ending, Explanation, Outcome, Status
from worker.profiles import lease_endings
from worker.queue import journal, runs
from worker.queue.claims import Queue
from worker.queue.endings import Settlement

SWEEP_AT_ONCE = 500
# A server that has just come back has seen no renewals for a while: living owners get this long.
SERVER_GRACE_SECONDS = 60.0

logger = logging.getLogger("nightshift.sweep")


@dataclass(frozen=True, slots=True)
class Swept:
    """What the sweep did, or would do, to one job."""

    job_id: int
    status: Status
    reason: str


def sweep(
    db: Database,
    queue: Queue,
    *,
    journal_folder: Path | None = None,
    server_grace_seconds: float = SERVER_GRACE_SECONDS,
    dry_run: bool = False,
) -> list[Swept]:
    """Return every ownerless job to pending, or end it as an error at its cap.

    Outcomes that dead workers of this host left in the journal are written first. On a server that
    has been up for less than the grace no claim is taken for expired.
    """
    if journal_folder is not None and not dry_run:
        replay_journal(db, queue, journal_folder)
    swept = _sweep_dead(db, queue, dry_run)
    if _uptime_seconds(db) >= min(server_grace_seconds, queue.lease_seconds):
        swept += _sweep_expired(db, queue, dry_run)
    return swept


def sweep_profiles(
    db: Database, server_grace_seconds: float = SERVER_GRACE_SECONDS
) -> list[tuple[str, str]]:
    """End the holds on profiles whose holder is gone; return each profile with the reason."""
    return lease_endings.sweep(db, with_expired=_uptime_seconds(db) >= server_grace_seconds)


def settle_for_the_dead(
    db: Database,
    queue: Queue,
    incarnation: int,
    outcome: Outcome,
    ending: str,
    keep_evidence: Callable[[Claim], str | None] = lambda claim: None,
) -> list[Swept]:
    """Settle what a dead worker held: handed back when we ended it, else an attempt spent."""
    settled = []
    for row in db.fetch_all("claims_of_incarnation", incarnation=incarnation):
        handed_back = outcome is Outcome.HANDED_BACK
        reason = ending if handed_back else f"worker {row['worker_id']} died: {ending}"
        claim = _claim(queue, row)
        evidence = None
        if not handed_back:
            try:
                evidence = keep_evidence(claim)
            except OSError as error:
                reason += f" (no evidence: {error})"
        try:
            status = queue.end(claim, Ending(outcome, Explanation(reason, evidence=evidence)))
        except ClaimLost:
            continue
        settled.append(Swept(claim.job_id, status, reason))
    return settled


def replay_journal(db: Database, queue: Queue, folder: Path, *, only: int | None = None) -> None:
    """Write the outcomes that workers of this host left behind; a living one writes its own."""
    for incarnation, entry in journal.read(folder):
        if only is not None:
            is_free = incarnation == only
        else:
            owner = db.fetch_one("worker_process", incarnation=incarnation)
            is_free = owner is None or runs.is_gone(owner)
        if is_free:
            journal.replay(queue, entry)


def _sweep_dead(db: Database, queue: Queue, dry_run: bool) -> list[Swept]:
    swept = []
    for row in db.fetch_all("claims_with_owners"):
        launcher = {**row, "pid": row["launcher_pid"], "pid_started": row["launcher_started"]}
        # While its launcher lives, that one sees a worker's death and knows the cause.
        if runs.is_gone(launcher) and runs.is_gone(row):
            reason = f"worker {row['worker_id']} and its launcher (run {row['run_id']}) are gone"
            swept.append(_settle(queue, row, reason, dry_run, only_if_expired=False))
    return [item for item in swept if item is not None]


def _sweep_expired(db: Database, queue: Queue, dry_run: bool) -> list[Swept]:
    swept: list[Swept] = []
    after = 0
    while True:
        expired = db.fetch_all("expired_claims", after=after, limit=SWEEP_AT_ONCE)
        for row in expired:
            reason = (
                f"worker {row['worker_id']} vanished: its claim was not renewed "
                f"and ended {row['overdue_seconds']} s ago"
            )
            item = _settle(queue, row, reason, dry_run, only_if_expired=True)
            swept += [item] if item is not None else []
        if len(expired) < SWEEP_AT_ONCE:
            return swept
        after = expired[-1]["id"]


def _uptime_seconds(db: Database) -> int:
    return int(db.fetch_all("server_uptime")[0]["Value"])


def _settle(
    queue: Queue, row: Row, reason: str, dry_run: bool, *, only_if_expired: bool
) -> Swept | None:
    claim = _claim(queue, row)
    status = Status.ERROR if claim.is_last_attempt else Status.PENDING
    if status is Status.ERROR:
        reason += f" (attempt {claim.tries} of {claim.max_attempts}, no more)"
    if not dry_run:
        settlement = Settlement(Outcome.SWEPT, status, Explanation(reason))
        try:
            queue.settle(claim, settlement, only_if_expired=only_if_expired)
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
        blocks=row["blocks"],
        crashes=row["crashes"],
        forgiven=row["forgiven"],
    )
