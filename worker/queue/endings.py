"""How claims end: done, back to wait, handed back, or error. Every write carries the fence.

A finish is one row and its own record; any other settlement is one transaction with its history,
its group and its event. One that may have reached the server before can be repeated: it tells.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from dataclasses import fields as dataclass_fields

from worker.database.client import Database
from worker.errors import ClaimLost
from worker.evidence.fingerprint import fingerprint
from worker.models import JSON, Cause, Claim, Ending, Explanation, Outcome, Status

# `last_error` is a TEXT: 65,535 bytes. The head says what was called, the tail what went wrong.
MAX_ERROR_BYTES = 60_000
# No job can kill workers for ever, whatever its other budget; nor run against a wall for ever.
MAX_CRASHES = 2
MAX_BLOCKS = 3


@dataclass(frozen=True, slots=True)
class Settlement:
    """Where a job goes when its claim ends without a result.

    `counts` false takes the attempt back, as if the job had never been claimed.
    """

    outcome: Outcome
    status: Status
    why: Explanation | None = None
    delay_seconds: float | None = None
    counts: bool = True


class Settlements:
    """The endings of claims, and the budgets that decide between another try and an error."""

    def __init__(
        self, db: Database, *, max_blocks: int = MAX_BLOCKS, default_callback: str | None = None
    ) -> None:
        self._db = db
        self.max_blocks = max_blocks
        self.default_callback = default_callback

    @property
    def database(self) -> Database:
        return self._db

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
            case Outcome.BLOCKED:
                return self.block(claim, why, ending.delay_seconds, ending.max_blocks)
        return self.retry(claim, why, delay_seconds=ending.delay_seconds, outcome=ending.outcome)

    def complete(self, claim: Claim, result: JSON) -> Status:
        """Finish the job. Raises ClaimLost if it has been given to another worker since."""
        return self._complete(claim, json.dumps(result, allow_nan=False))

    def has_listener(self, claim: Claim) -> bool:
        """Whether somebody wants to be told of this job's outcome."""
        return claim.has_callback or self.default_callback is not None

    def _complete(self, claim: Claim, result: str) -> Status:
        if self.has_listener(claim):
            changed = self._db.run_script(
                "complete_with_event",
                id=claim.job_id,
                fence=claim.fence,
                result=result,
                default_callback=self.default_callback,
            )[0]
        else:
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

    def block(
        self,
        claim: Claim,
        why: Explanation,
        delay_seconds: float | None,
        max_blocks: int | None = None,
    ) -> Status:
        """Put back a job that its site refused; end it when its budget of blocks is spent."""
        budget = self.max_blocks if max_blocks is None else max_blocks
        said = f"blocked {claim.blocks + 1} times, no more"
        settlement = Settlement(Outcome.BLOCKED, Status.PENDING, why, delay_seconds)
        return self._spend(claim, settlement, claim.blocks + 1, budget, said)

    def crash(self, claim: Claim, why: Explanation, *, delay_seconds: float | None) -> Status:
        """Put back a job under which a worker or browser died; end it at the second time."""
        said = f"killed its worker or browser {claim.crashes + 1} times"
        settlement = Settlement(Outcome.CRASHED, Status.PENDING, why, delay_seconds)
        return self._spend(claim, settlement, claim.crashes + 1, MAX_CRASHES, said)

    def _spend(
        self, claim: Claim, settlement: Settlement, spent: int, budget: int, said: str
    ) -> Status:
        """Settle by a budget of its own; a job that may be tried once is never tried twice."""
        if spent >= min(budget, claim.max_attempts):
            why = settlement.why or Explanation("")
            why = (
                _capped(claim, why)
                if spent == 1
                else replace(why, reason=f"{said}; last: {why.reason}")
            )
            return self.fail(claim, why, outcome=settlement.outcome)
        return self.settle(claim, settlement)

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
        why = _storable(_grouped(claim, settlement))
        counts = self._db.run_script(
            "settle_job",
            id=claim.job_id,
            fence=claim.fence,
            attempt=claim.attempt,
            status=settlement.status.value,
            outcome=settlement.outcome.value,
            task=claim.task,
            block=settlement.counts and settlement.outcome is Outcome.BLOCKED,
            crash=settlement.counts and settlement.outcome is Outcome.CRASHED,
            last_error=_fitted(why.last_error or why.reason),
            refund=0 if settlement.counts else 1,
            delay_seconds=settlement.delay_seconds,
            wait_reason=why.reason[:255] if settlement.status is Status.PENDING else None,
            reason=why.reason[:500] or None,
            fingerprint=why.fingerprint,
            label=(why.label or why.reason)[:255],
            cause=why.cause or blamed(settlement.outcome),
            default_callback=self.default_callback,
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

    def _is_settled(self, claim: Claim, outcome: Outcome) -> bool:
        """Tell whether our own settlement went through before its connection broke."""
        if outcome is Outcome.SWEPT:
            # Several may sweep one claim at the same time: only the one that changed it did.
            return False
        row = self._db.fetch_one("attempt_exists", id=claim.job_id, fence=claim.fence)
        return row is not None and row["outcome"] == outcome.value


def _grouped(claim: Claim, settlement: Settlement) -> Explanation:
    """Give a failure that nobody could look into, such as a vanished worker's, a group as well."""
    why = settlement.why or Explanation("")
    if settlement.outcome is Outcome.HANDED_BACK or why.fingerprint is not None:
        return why
    key, label = fingerprint(settlement.outcome.value, why.reason, claim.task)
    return replace(why, fingerprint=key, label=label)


def blamed(outcome: Outcome) -> Cause:
    """Say who is at fault where nobody has looked: a worker that is gone is the pool's trouble."""
    is_ours = outcome in (Outcome.SWEPT, Outcome.CRASHED, Outcome.HANDED_BACK)
    return Cause.POOL if is_ours else Cause.CODE


def _capped(claim: Claim, why: Explanation) -> Explanation:
    reason = f"{why.reason} (attempt {claim.tries} of {claim.max_attempts}, no more)"
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
