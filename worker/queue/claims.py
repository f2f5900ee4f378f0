"""The queue: claim, renew, and look. Every write about a claim carries its fence.

A claim that may have reached the server before its connection broke can be asked for again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from worker.database.client import Database, Row, Transaction
from worker.models import Candidate, Claim, Owner, Status
from worker.queue.endings import MAX_BLOCKS, Settlements
from worker.settings import RunSettings

PROMOTE_AT_ONCE = 1000


class Queue(Settlements):
    """All that is done to `work_queue`, in the order a job lives; its end is in settlements.py."""

    def __init__(
        self,
        db: Database,
        *,
        lease_seconds: float = 180.0,
        max_attempts: int = 4,
        max_blocks: int = MAX_BLOCKS,
        default_callback: str | None = None,
    ) -> None:
        super().__init__(db, max_blocks=max_blocks, default_callback=default_callback)
        self.lease_seconds = lease_seconds
        self.max_attempts = max_attempts

    @classmethod
    def of_run(cls, db: Database, settings: RunSettings) -> Queue:
        """The queue as a run's settings want it."""
        return cls(
            db,
            lease_seconds=settings.lease_seconds,
            max_attempts=settings.max_attempts,
            max_blocks=settings.max_blocks,
            default_callback=settings.callback_url,
        )

    def take(self, owner: Owner, candidate: Candidate) -> Claim | None:
        """Claim one job; None when it is another's by now, or was changed since it was read."""
        self.keep_former_finish(candidate)
        claimed = self._db.execute("claim_job", **self._claim_params(owner, candidate))
        if claimed == 1 or self.is_own(owner, candidate):
            return self.claim_of(candidate)
        return None

    def take_within(self, tx: Transaction, owner: Owner, candidate: Candidate) -> bool:
        """Claim one job as part of a transaction; tell whether it could be had."""
        return tx.execute("claim_job", **self._claim_params(owner, candidate)) == 1

    def _claim_params(self, owner: Owner, candidate: Candidate) -> dict[str, Any]:
        return {
            "id": candidate.job_id,
            "version": candidate.version,
            "slot": owner.slot,
            "incarnation": owner.incarnation,
            "lease_seconds": self.lease_seconds,
        }

    def complete_and_claim(
        self, claim: Claim, result: str, owner: Owner, candidate: Candidate
    ) -> tuple[bool, Claim | None]:
        """Finish a job and claim the next one in one transaction: one commit instead of two.

        `result` is JSON text. Returns whether the first claim still held, and the second claim
        if it could be had.
        """
        self.keep_former_finish(candidate)
        changed = self._db.execute(
            "complete_and_claim",
            id=claim.job_id,
            fence=claim.fence,
            result=result,
            next_id=candidate.job_id,
            next_version=candidate.version,
            slot=owner.slot,
            incarnation=owner.incarnation,
            lease_seconds=self.lease_seconds,
        )
        if changed == 2:
            return True, self.claim_of(candidate)
        return self.is_finished(claim.job_id, claim.fence), self.reclaim(owner, candidate)

    def reclaim(self, owner: Owner, candidate: Candidate) -> Claim | None:
        """Return the claim on a candidate if it was made before its connection broke."""
        return self.claim_of(candidate) if self.is_own(owner, candidate) else None

    def is_own(self, owner: Owner, candidate: Candidate) -> bool:
        """Tell whether a job that cannot be claimed is ours: a claim may outlive its connection."""
        row = self._db.fetch_one(
            "own_claim",
            id=candidate.job_id,
            fence=candidate.fence + 1,
            incarnation=owner.incarnation,
        )
        return row is not None

    def limit_attempts(self, claim: Claim, max_attempts: int) -> Claim:
        """Give a job that has no cap of its own that of its task, in its row too.

        A sweep does not know tasks, but must keep to their caps.
        """
        self._db.execute(
            "limit_attempts", id=claim.job_id, fence=claim.fence, max_attempts=max_attempts
        )
        return replace(claim, max_attempts=max_attempts, has_default_cap=False)

    def renew(self, claims: Sequence[tuple[int, int]]) -> int:
        """Extend the leases of these (job, fence) pairs; return how many still hold."""
        if not claims:
            return 0
        return self._db.execute(
            "renew_claims", claims=tuple(claims), lease_seconds=self.lease_seconds
        )

    def promote(self) -> int:
        """Let jobs whose waiting time is over be claimed; return how many."""
        due = self._db.fetch_all("due_jobs", limit=PROMOTE_AT_ONCE)
        if not due:
            return 0
        return self._db.execute("make_ready", ids=tuple(row["id"] for row in due))

    def counts(self) -> dict[str, int]:
        """Count the jobs of each status."""
        found = {row["status"]: int(row["jobs"]) for row in self._db.fetch_all("count_by_status")}
        return {status.value: found.get(status.value, 0) for status in Status}

    def unfinished(self) -> dict[str, int]:
        """Count pending, in-progress and, among the pending, waiting jobs."""
        row = self._db.fetch_all("count_unfinished")[0]
        return {name: int(value) for name, value in row.items()}

    def get(self, job_id: int) -> Row | None:
        """Read one job's row."""
        return self._db.fetch_one("get_job", id=job_id)

    def history(self, job_id: int) -> list[Row]:
        """Read one job's attempts, oldest first."""
        return self._db.fetch_all("attempts_of_job", id=job_id)

    def claim_of(self, candidate: Candidate) -> Claim:
        """Describe the claim that a candidate becomes when it is taken."""
        return Claim(
            job_id=candidate.job_id,
            fence=candidate.fence + 1,
            attempt=candidate.attempts + 1,
            max_attempts=candidate.max_attempts or self.max_attempts,
            task=candidate.task,
            payload=candidate.payload,
            timeout_seconds=candidate.timeout_seconds,
            has_default_cap=candidate.max_attempts is None,
            has_callback=candidate.has_callback,
            blocks=candidate.blocks,
            crashes=candidate.crashes,
            forgiven=candidate.forgiven,
            site=candidate.site,
            profile_id=candidate.profile_id,
            account_id=candidate.account_id,
        )

    def keep_former_finish(self, candidate: Candidate) -> None:
        """Put the finish of a job that was put back by hand into its history."""
        if candidate.was_done:
            self._db.execute("keep_former_finish", id=candidate.job_id, fence=candidate.fence)
