"""The queue: enqueue, claim, renew, settle. Every write about a claim carries its fence.

A finish is one row and its own record; any other settlement is one transaction with its history. A
write that may have reached the server before its connection broke can be repeated: those tell.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from dataclasses import fields as dataclass_fields

from worker.candidates import Candidates
from worker.database import Database, Row
from worker.errors import ClaimLost
from worker.models import (
    JSON,
    Candidate,
    Claim,
    Ending,
    Explanation,
    Outcome,
    Outlook,
    Owner,
    Partition,
    Status,
)

# `last_error` is a TEXT: 65,535 bytes. The head says what was called, the tail what went wrong.
MAX_ERROR_BYTES = 60_000
PROMOTE_AT_ONCE = 1000
# No job can kill workers for ever, whatever its other budget.
MAX_CRASHES = 2


@dataclass(frozen=True, slots=True)
class Settlement:
    """Where a job goes when its claim ends without a result."""

    outcome: Outcome
    status: Status
    why: Explanation | None = None
    delay_seconds: float | None = None
    counts: bool = True


class Queue:
    """All that is done to `work_queue`, in the order a job lives."""

    def __init__(
        self, db: Database, *, lease_seconds: float = 180.0, max_attempts: int = 4
    ) -> None:
        self._db = db
        self.lease_seconds = lease_seconds
        self.max_attempts = max_attempts

    def enqueue(
        self,
        task: str,
        payload: JSON,
        *,
        priority: int = 0,
        delay_seconds: float | None = None,
        max_attempts: int | None = None,
        timeout_seconds: int | None = None,
        dedupe_key: str | None = None,
    ) -> int:
        """Add one job and return its id; raises DuplicateKey when its dedupe key is taken."""
        return self._db.insert(
            "enqueue_job",
            task=task,
            payload=json.dumps(payload),
            priority=priority,
            delay_seconds=delay_seconds,
            max_attempts=max_attempts,
            timeout_seconds=timeout_seconds,
            dedupe_key=dedupe_key,
        )

    def enqueue_many(self, task: str, payloads: Iterable[JSON]) -> int:
        """Add many jobs, all or none; return how many."""
        rows = [{"task": task, "payload": json.dumps(payload)} for payload in payloads]
        return self._db.insert_many("enqueue_jobs", rows)

    def claim(self, owner: Owner, candidates: Candidates) -> Claim | None:
        """Claim the next ready job, or return None when there is none now.

        The attempt is counted here. A job that others took in the meantime is passed over.
        """
        while (candidate := candidates.next()) is not None:
            self._keep_former_finish(candidate)
            claimed = self._db.execute(
                "claim_job",
                id=candidate.job_id,
                version=candidate.version,
                slot=owner.slot,
                incarnation=owner.incarnation,
                lease_seconds=self.lease_seconds,
            )
            if claimed == 1 or self.is_own(owner, candidate):
                return self._claim(candidate)
        return None

    def complete_and_claim(
        self, claim: Claim, result: str, owner: Owner, candidate: Candidate
    ) -> tuple[bool, Claim | None]:
        """Finish a job and claim the next one in one transaction: one commit instead of two.

        `result` is JSON text. Returns whether the first claim still held, and the second claim
        if it could be had.
        """
        self._keep_former_finish(candidate)
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
            return True, self._claim(candidate)
        return self.is_finished(claim.job_id, claim.fence), self.reclaim(owner, candidate)

    def reclaim(self, owner: Owner, candidate: Candidate) -> Claim | None:
        """Return the claim on a candidate if it was made before its connection broke."""
        return self._claim(candidate) if self.is_own(owner, candidate) else None

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

    def end(self, claim: Claim, ending: Ending) -> Status:
        """End a claim the way its outcome says: the one table from outcomes to settlements."""
        why = ending.why or Explanation("")
        match ending.outcome:
            case Outcome.DONE:
                return self._complete(claim, ending.result or "null")
            case Outcome.HANDED_BACK:
                return self.hand_back(claim, why, delay_seconds=ending.delay_seconds)
            case Outcome.ERROR:
                return self.fail(claim, why)
            case Outcome.CRASHED:
                return self.crash(claim, why, delay_seconds=ending.delay_seconds)
        return self.retry(claim, why, delay_seconds=ending.delay_seconds, outcome=ending.outcome)

    def complete(self, claim: Claim, result: JSON) -> Status:
        """Finish the job. Raises ClaimLost if it has been given to another worker since."""
        return self._complete(claim, json.dumps(result, allow_nan=False))

    def _complete(self, claim: Claim, result: str) -> Status:
        changed = self._db.execute(
            "complete_job", id=claim.job_id, fence=claim.fence, result=result
        )
        if changed != 1 and not self.is_finished(claim.job_id, claim.fence):
            raise ClaimLost(claim.job_id, claim.fence)
        return Status.DONE

    def retry(
        self,
        claim: Claim,
        why: Explanation,
        *,
        delay_seconds: float | None,
        outcome: Outcome = Outcome.RETRY,
    ) -> Status:
        """Put the job back to wait, or end it as an error when this was its last attempt."""
        if claim.is_last_attempt:
            return self.fail(claim, _capped(claim, why), outcome=outcome)
        settlement = Settlement(outcome, Status.PENDING, why, delay_seconds=delay_seconds)
        return self.settle(claim, settlement)

    def crash(self, claim: Claim, why: Explanation, *, delay_seconds: float | None) -> Status:
        """Put a job back under which a worker or browser died; end it at the second time."""
        row = self._db.fetch_all("count_crashes", id=claim.job_id)[0]
        crashes = int(row["crashes"]) + 1
        if crashes >= MAX_CRASHES:
            reason = f"killed its worker or browser {crashes} times; last: {why.reason}"
            return self.fail(claim, replace(why, reason=reason), outcome=Outcome.CRASHED)
        return self.retry(claim, why, delay_seconds=delay_seconds, outcome=Outcome.CRASHED)

    def fail(self, claim: Claim, why: Explanation, *, outcome: Outcome = Outcome.ERROR) -> Status:
        """End the job as an error, whatever attempts it has left."""
        return self.settle(claim, Settlement(outcome, Status.ERROR, why))

    def hand_back(
        self, claim: Claim, why: Explanation, *, delay_seconds: float | None = None
    ) -> Status:
        """Put the job back as if it had never been claimed: the fault was the pool's."""
        settlement = Settlement(
            Outcome.HANDED_BACK, Status.PENDING, why, delay_seconds=delay_seconds, counts=False
        )
        return self.settle(claim, settlement)

    def settle(
        self, claim: Claim, settlement: Settlement, *, only_if_expired: bool = False
    ) -> Status:
        """End a claim under its fence, with its history, in one transaction and round trip."""
        why = _storable(settlement.why or Explanation(""))
        counts = self._db.run_script(
            "settle_job",
            id=claim.job_id,
            fence=claim.fence,
            attempt=claim.attempt,
            status=settlement.status.value,
            outcome=settlement.outcome.value,
            result=None,
            last_error=_fitted(why.last_error or why.reason),
            refund=0 if settlement.counts else 1,
            delay_seconds=settlement.delay_seconds,
            wait_reason=why.reason[:255] if settlement.status is Status.PENDING else None,
            reason=why.reason[:500] or None,
            fingerprint=why.fingerprint,
            evidence=why.evidence,
            last_step=why.last_step[:255] if why.last_step else None,
            only_if_expired=only_if_expired,
        )
        if counts[1] == 1:
            return settlement.status
        if not self._is_settled(claim, settlement.outcome):
            raise ClaimLost(claim.job_id, claim.fence)
        return settlement.status

    def is_finished(self, job_id: int, fence: int) -> bool:
        """Tell whether a job was finished under a fence, whatever became of the connection."""
        return self._db.fetch_one("own_finish", id=job_id, fence=fence) is not None

    def promote(self) -> int:
        """Let jobs whose waiting time is over be claimed; return how many."""
        due = self._db.fetch_all("due_jobs", limit=PROMOTE_AT_ONCE)
        if not due:
            return 0
        return self._db.execute("make_ready", ids=tuple(row["id"] for row in due))

    def outlook(self, partition: Partition | None = None) -> Outlook:
        """Say what is still to come, in one partition or in all."""
        if partition is None:
            row = self._db.fetch_all("outlook")[0]
        else:
            row = self._db.fetch_all("own_outlook", slot=partition.slot, total=partition.total)[0]
        due = row["next_due_seconds"]
        return Outlook(
            has_ready=bool(row["has_ready"]),
            has_in_progress=bool(row["has_in_progress"]),
            next_due_seconds=None if due is None else float(due),
        )

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

    def _claim(self, candidate: Candidate) -> Claim:
        return Claim(
            job_id=candidate.job_id,
            fence=candidate.fence + 1,
            attempt=candidate.attempts + 1,
            max_attempts=candidate.max_attempts or self.max_attempts,
            task=candidate.task,
            payload=candidate.payload,
            timeout_seconds=candidate.timeout_seconds,
            has_default_cap=candidate.max_attempts is None,
        )

    def _keep_former_finish(self, candidate: Candidate) -> None:
        if candidate.was_done:
            self._db.execute("keep_former_finish", id=candidate.job_id, fence=candidate.fence)

    def _is_settled(self, claim: Claim, outcome: Outcome) -> bool:
        """Tell whether our own settlement went through before its connection broke."""
        if outcome is Outcome.SWEPT:
            # Several may sweep one claim at the same time: only the one that changed it did.
            return False
        row = self._db.fetch_one("attempt_exists", id=claim.job_id, fence=claim.fence)
        return row is not None and row["outcome"] == outcome.value


def _capped(claim: Claim, why: Explanation) -> Explanation:
    reason = f"{why.reason} (attempt {claim.attempt} of {claim.max_attempts}, no more)"
    return replace(why, reason=reason)


def _storable(why: Explanation) -> Explanation:
    """Replace half characters, which a page or a file name may hold and no column takes."""
    fields = {item.name: getattr(why, item.name) for item in dataclass_fields(why)}
    return Explanation(
        **{name: text and text.encode("utf-8", "replace").decode() for name, text in fields.items()}
    )


def _fitted(text: str) -> str:
    """Cut a traceback in its middle so that it fits its column."""
    data = text.encode("utf-8", "replace")
    if len(data) <= MAX_ERROR_BYTES:
        return data.decode("utf-8", "replace")
    half = MAX_ERROR_BYTES // 2
    head, tail = data[:half], data[-half:]
    return f"{head.decode('utf-8', 'replace')}\n[…]\n{tail.decode('utf-8', 'replace')}"
