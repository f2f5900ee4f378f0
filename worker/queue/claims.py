"""The queue: claim, renew, and look. Every write about a claim carries its fence; which job is
claimed next, and how many are read at a time, is decided in the room claiming/.

A claim that may have reached the server before its connection broke can be asked for again.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from worker.backoff import backoff_seconds
from worker.database.client import Database, Row, Transaction
from worker.errors import RowsLocked
from worker.models import Candidate, Claim, Ending, Owner, Route, Status
from worker.queue.endings import Endings
from worker.queue.settlements import MAX_BLOCKS
from worker.queue_names import as_compared
from worker.settings import RunSettings

PROMOTE_AT_ONCE = 1000
# That of nearly every job as it is claimed.
_NO_ROUTE = Route()

logger = logging.getLogger("nightshift.queue")


class Queue(Endings):
    """All that is done to `work_queue`, in the order a job lives; its end is in endings.py."""

    def __init__(
        self,
        db: Database,
        *,
        lease_seconds: float = 180.0,
        max_attempts: int = 4,
        max_blocks: int = MAX_BLOCKS,
        default_callback: str | None = None,
        retry_delay_seconds: float = 30.0,
        task_caps: Mapping[str, int] | None = None,
    ) -> None:
        super().__init__(db, max_blocks=max_blocks, default_callback=default_callback)
        self.lease_seconds = lease_seconds
        self.max_attempts = max_attempts
        self._retry_delay_seconds = retry_delay_seconds
        # A task's own cap is written into the job's row with the claim: a sweep knows no tasks.
        self._task_caps = task_caps or {}

    @classmethod
    def of_run(
        cls, db: Database, settings: RunSettings, task_caps: Mapping[str, int] | None = None
    ) -> Queue:
        """The queue as a run's settings want it."""
        return cls(
            db,
            lease_seconds=settings.lease_seconds,
            max_attempts=settings.max_attempts,
            max_blocks=settings.max_blocks,
            default_callback=settings.callback_url,
            retry_delay_seconds=settings.retry_delay_seconds,
            task_caps=task_caps,
        )

    def take(self, owner: Owner, candidate: Candidate) -> Claim | None:
        """Claim one job; None when it is another's by now, or was changed since it was read.

        Raises RowsLocked when somebody holds its row.
        """
        self.keep_former_finish(candidate)
        with self._db.passing_locks():
            claimed = self._db.execute("claim_job", **self._claim_params(owner, candidate))
        if claimed == 1 or self.is_own(owner, candidate):
            return self.claim_of(owner, candidate)
        return None

    def take_within(
        self, tx: Transaction, owner: Owner, candidate: Candidate, route: Route | None = None
    ) -> bool:
        """Claim one job as part of a transaction; return whether that worked."""
        return tx.execute("claim_job", **self._claim_params(owner, candidate, route)) == 1

    def _claim_params(
        self, owner: Owner, candidate: Candidate, route: Route | None = None
    ) -> dict[str, Any]:
        route = route or _own_route(candidate)
        return {
            "id": candidate.job_id,
            "version": candidate.version,
            "slot": owner.slot,
            "incarnation": owner.incarnation,
            "lease_seconds": self.lease_seconds,
            "task_cap": self._task_caps.get(candidate.task),
            "profile": route.profile,
            "account": route.account,
            "proxy": route.proxy,
        }

    def finish_and_take(
        self,
        claim: Claim,
        result: str,
        owner: Owner,
        candidate: Candidate,
        *,
        proxy: str | None = None,
    ) -> tuple[bool, Claim | None]:
        """Finish a job and claim the next one in one transaction: one commit instead of two.

        `result` is JSON text, `proxy` what the job's pages went through. Returns whether the first
        claim still held, and the second claim if that worked.
        """
        self.keep_former_finish(candidate)
        changed = self._db.execute_prepared(
            "finish_and_take",
            id=claim.job_id,
            fence=claim.fence,
            result=result,
            next_id=candidate.job_id,
            next_version=candidate.version,
            slot=owner.slot,
            incarnation=owner.incarnation,
            lease_seconds=self.lease_seconds,
            task_cap=self._task_caps.get(candidate.task),
            proxy=proxy,
        )
        if changed == 2:
            return True, self.claim_of(owner, candidate)
        is_finished = self.is_finished(claim.job_id, claim.fence, claim.incarnation)
        return is_finished, self.reclaim(owner, candidate)

    def settle_and_take(
        self, claim: Claim, ending: Ending, owner: Owner, candidate: Candidate
    ) -> tuple[bool, Claim | None]:
        """End a claim that is not finished and claim the next job, in one transaction.

        Returns whether the first claim still held, and the second claim if that worked.
        """
        self.keep_former_finish(candidate)
        following = self._claim_params(owner, candidate)
        is_settled, is_taken = self._settle_and_take(claim, ending, following)
        if is_taken:
            return is_settled, self.claim_of(owner, candidate)
        return is_settled, self.reclaim(owner, candidate)

    def reclaim(self, owner: Owner, candidate: Candidate) -> Claim | None:
        """Return the claim on a candidate if it was made before its connection broke."""
        return self.claim_of(owner, candidate) if self.is_own(owner, candidate) else None

    def is_own(self, owner: Owner, candidate: Candidate) -> bool:
        """Tell whether a job that cannot be claimed is ours: a claim may outlive its connection."""
        row = self._db.fetch_one(
            "own_claim",
            id=candidate.job_id,
            fence=candidate.fence + 1,
            incarnation=owner.incarnation,
        )
        return row is not None

    def backoff_seconds(self, claim: Claim, base_seconds: float | None = None) -> float:
        """Say how long a job waits before its next attempt; a task may have a base of its own."""
        base = self._retry_delay_seconds if base_seconds is None else base_seconds
        return backoff_seconds(claim.attempt - claim.forgiven, base)

    def renew(self, claims: Sequence[tuple[int, int, int]]) -> int:
        """Extend the leases of these (job, fence, incarnation); return how many still hold."""
        if not claims:
            return 0
        try:
            with self._db.passing_locks():
                return self._renew(claims)
        except RowsLocked:
            return sum(self._renew_one(claim) for claim in claims)

    def _renew(self, claims: Sequence[tuple[int, int, int]]) -> int:
        ids = tuple(job_id for job_id, _, _ in claims)
        return self._db.execute(
            "renew_claims", ids=ids, claims=tuple(claims), lease_seconds=self.lease_seconds
        )

    def _renew_one(self, claim: tuple[int, int, int]) -> int:
        """Renew one lease; a row that is held cannot be swept meanwhile either."""
        try:
            with self._db.passing_locks():
                return self._renew([claim])
        except RowsLocked:
            logger.warning("job %s: its row is locked, its lease is renewed later", claim[0])
            return 0

    def promote(self) -> int:
        """Let jobs whose waiting time is over be claimed; return how many."""
        due = [row["id"] for row in self._db.fetch_all("due_jobs", limit=PROMOTE_AT_ONCE)]
        if not due:
            return 0
        try:
            with self._db.passing_locks():
                return self._db.execute("make_ready", ids=tuple(due))
        except RowsLocked:
            return sum(self._promote_one(job_id) for job_id in due)

    def _promote_one(self, job_id: int) -> int:
        try:
            with self._db.passing_locks():
                return self._db.execute("make_ready", ids=(job_id,))
        except RowsLocked:
            return 0

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

    def claim_of(self, owner: Owner, candidate: Candidate) -> Claim:
        """Describe the claim that a candidate becomes when it is taken."""
        own_cap = candidate.max_attempts or self._task_caps.get(candidate.task)
        return Claim(
            job_id=candidate.job_id,
            fence=candidate.fence + 1,
            incarnation=owner.incarnation,
            attempt=candidate.attempts + 1,
            max_attempts=own_cap or self.max_attempts,
            task=candidate.task,
            payload=candidate.payload,
            timeout_seconds=candidate.timeout_seconds,
            has_listener=candidate.has_callback or self.default_callback is not None,
            blocks=candidate.blocks,
            crashes=candidate.crashes,
            forgiven=candidate.forgiven,
            site=candidate.site,
            profile_id=candidate.profile_id,
            account_id=candidate.account_id,
            order_place=candidate.order_place,
            route=_own_route(candidate),
            depth=candidate.depth,
        )

    def claim_in(self, row: Row) -> Claim:
        """Describe the claim that a row of a job in progress shows, whoever holds it."""
        return Claim(
            job_id=row["id"],
            fence=row["fence"],
            incarnation=row["incarnation"],
            attempt=row["attempts"],
            max_attempts=row["max_attempts"] or self.max_attempts,
            task=as_compared(row["task"]),
            payload="",
            # Nobody has looked: the statement does.
            has_listener=True,
            blocks=row["blocks"],
            crashes=row["crashes"],
            forgiven=row["forgiven"],
            irreversible_step=row["irreversible_step"],
            route=Route(row["used_profile"], row["used_account"], row["used_proxy"]),
        )

    def keep_former_finish(self, candidate: Candidate) -> None:
        """Put the finish of a job that was put back by hand into its history."""
        if candidate.was_done:
            self._db.execute("keep_former_finish", id=candidate.job_id, fence=candidate.fence)


def _own_route(candidate: Candidate) -> Route:
    """What a job says itself of its route; profile and proxy are found out by the gate."""
    return Route(account=candidate.account_id) if candidate.account_id else _NO_ROUTE
