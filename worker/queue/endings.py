"""How claims end: done, back to wait, handed back, or error. Every write carries the fence.

`settlement_of` is the one table from what happened to what is written. A finish is one row and its
own record; any other settlement is one transaction with its history, its group and its event. One
that may have reached the server before can be repeated: it tells.
"""

from __future__ import annotations

from worker.database.client import Database, Transaction
from worker.errors import ClaimLost
from worker.evidence.fingerprint import fingerprint
from worker.evidence.known_secrets import KnownSecrets
from worker.evidence.redaction import redact_text
from worker.models import Claim, Ending, Outcome, Status
from worker.queue import added_jobs, standing
from worker.records import record
from worker.system.identity import this_host

# `last_error` is a TEXT: 65,535 bytes. The head says what was called, the tail what went wrong.
MAX_ERROR_BYTES = 60_000
# No job may kill workers or be blocked for ever, whatever its other budgets are.
MAX_CRASHES = 2
MAX_BLOCKS = 3
HALF_DONE = "may be half done at"


@record(frozen=True, slots=True)
class Settlement:
    """What is written: where the job goes, how its attempt is remembered, and why.

    `counts` false takes the attempt back, as if the job had never been claimed.
    """

    status: Status
    outcome: Outcome
    reason: str
    delay_seconds: float | None = None
    counts: bool = True
    # At which the job may be half done: then only a person may have it done again.
    irreversible_step: str | None = None


def settlement_of(claim: Claim, ending: Ending, max_blocks: int = MAX_BLOCKS) -> Settlement:
    """Decide where a job goes by what happened to it, its cap and its budgets.

    Whatever broke a job off at an irreversible step, it is an error: no budget allows another try.
    """
    step = ending.irreversible_step or claim.irreversible_step
    if step is not None and ending.outcome is not Outcome.DONE:
        return _half_done(ending, step)
    if claim.canary is not None and ending.blames_site:
        # It was the canary, so its failure costs it nothing.
        reason = f"canary of {claim.canary}: {ending.reason}"
        return Settlement(Status.PENDING, Outcome.HANDED_BACK, reason, counts=False)
    match ending.outcome:
        case Outcome.DONE:
            return Settlement(Status.DONE, Outcome.DONE, ending.reason)
        case Outcome.ERROR:
            return Settlement(Status.ERROR, Outcome.ERROR, ending.reason)
        case Outcome.HANDED_BACK:
            return _back(ending, counts=False)
        case Outcome.BLOCKED:
            blocks = claim.blocks + 1
            budget = max_blocks if ending.max_blocks is None else ending.max_blocks
            return _spent(claim, ending, blocks, budget, f"blocked {blocks} times, no more")
        case Outcome.CRASHED:
            crashes = claim.crashes + 1
            said = f"killed its worker or browser {crashes} times"
            return _spent(claim, ending, crashes, MAX_CRASHES, said)
    return _over(claim, ending) if claim.is_last_attempt else _back(ending)


def _half_done(ending: Ending, step: str) -> Settlement:
    is_back = ending.outcome is Outcome.HANDED_BACK
    return Settlement(
        Status.ERROR,
        Outcome.ERROR if is_back else ending.outcome,
        f"{half_done_at(step)}: {ending.reason.removeprefix('handed back: ')}",
        irreversible_step=step,
    )


def half_done_at(step: str) -> str:
    """Say what may have become of a job that broke off at an irreversible step."""
    return f"{HALF_DONE} {step!r}"


def _spent(claim: Claim, ending: Ending, spent: int, budget: int, said: str) -> Settlement:
    """Judge by a budget of its own; a job that may be tried once is not tried again even so."""
    if spent < min(budget, claim.max_attempts):
        return _back(ending)
    if spent == 1:
        return _over(claim, ending)
    return Settlement(Status.ERROR, ending.outcome, f"{said}; last: {ending.reason}")


def _back(ending: Ending, *, counts: bool = True) -> Settlement:
    return Settlement(
        Status.PENDING, ending.outcome, ending.reason, ending.delay_seconds, counts=counts
    )


def _over(claim: Claim, ending: Ending) -> Settlement:
    reason = f"{ending.reason} (attempt {claim.tries} of {claim.max_attempts}, no more)"
    return Settlement(Status.ERROR, ending.outcome, reason)


class Endings:
    """Writes the endings of claims."""

    def __init__(
        self, db: Database, *, max_blocks: int = MAX_BLOCKS, default_callback: str | None = None
    ) -> None:
        self._db = db
        self.max_blocks = max_blocks
        self.default_callback = default_callback

    @property
    def database(self) -> Database:
        return self._db

    def settlement_of(self, claim: Claim, ending: Ending) -> Settlement:
        """Say what `end` would write."""
        return settlement_of(claim, ending, self.max_blocks)

    def end(
        self,
        claim: Claim,
        ending: Ending,
        *,
        only_if_expired: bool = False,
        as_read: bool = False,
    ) -> Settlement:
        """End a claim and return what was written.

        `as_read` is for whoever ends another's claim: its irreversible step must still be the one
        that was read. Raises ClaimLost, having written nothing, when it is not, or when the job has
        been given to another since; StaleServer when the server does not know of the claim yet.
        """
        settlement = self.settlement_of(claim, ending)

        def write() -> bool:
            if settlement.status is Status.DONE:
                return self._finish(claim, ending) or self.is_finished(
                    claim.job_id, claim.fence, claim.incarnation
                )
            return self._settle(
                claim, ending, settlement, only_if_expired=only_if_expired, as_read=as_read
            ) or self._is_settled(claim, settlement)

        # Who ends another's claim has read it just now, and looks again another time.
        is_anothers = only_if_expired or as_read
        if not (write() if is_anothers else standing.prevails(self._db, claim, write)):
            raise ClaimLost(claim.job_id, claim.fence)
        return settlement

    def is_finished(self, job_id: int, fence: int, incarnation: int | None) -> bool:
        """Tell whether a job was finished by one claim, whatever became of the connection."""
        row = self._db.fetch_one("own_finish", id=job_id, fence=fence, incarnation=incarnation)
        return row is not None

    def _finish(self, claim: Claim, ending: Ending) -> bool:
        written = {**_guard(claim), "result": ending.result or "null", "proxy": ending.proxy}
        if ending.follow_ups:
            return self._db.transaction(lambda tx: self._finish_and_add(tx, claim, ending, written))
        if not claim.has_listener:
            return self._db.execute("complete_job", **written) == 1
        counts = self._db.run_script(
            "complete_with_event", **written, default_callback=self.default_callback
        )
        return counts[0] == 1

    def _finish_and_add(
        self, tx: Transaction, claim: Claim, ending: Ending, written: dict[str, object]
    ) -> bool:
        """Finish a job together with the jobs that its task has added."""
        if tx.execute("complete_job", **written) != 1:
            tx.discard()
            return False
        if claim.has_listener:
            tx.execute("event_of_finish", **_guard(claim), default_callback=self.default_callback)
        added_jobs.add(tx, claim.job_id, ending.follow_ups)
        return True

    def _settle(
        self,
        claim: Claim,
        ending: Ending,
        settlement: Settlement,
        *,
        only_if_expired: bool,
        as_read: bool,
    ) -> bool:
        """Write history, job, group and event in one transaction and one round trip."""
        # Whoever writes this, a secret of the job's payload does not get into a table.
        known = KnownSecrets.of_payload(claim.payload)
        reason = redact_text(_storable(settlement.reason), known)
        key, label = _group_of(claim, ending, settlement)
        counts = self._db.run_script(
            "settle_job",
            **_guard(claim),
            attempt=claim.attempt,
            status=settlement.status.value,
            outcome=settlement.outcome.value,
            task=claim.task,
            block=settlement.counts and settlement.outcome is Outcome.BLOCKED,
            crash=settlement.counts and settlement.outcome is Outcome.CRASHED,
            last_error=_fitted(redact_text(_told(ending, settlement), known)),
            refund=0 if settlement.counts else 1,
            delay_seconds=settlement.delay_seconds,
            wait_reason=reason[:255] if settlement.status is Status.PENDING else None,
            reason=reason[:500] or None,
            fingerprint=key,
            label=redact_text(_storable(label), known)[:255],
            cause=ending.cause,
            proxy=ending.proxy,
            default_callback=self.default_callback,
            **_evidence(ending),
            **_steps(claim, ending, settlement, known),
            only_if_expired=only_if_expired,
            as_read=as_read,
        )
        return counts[1] == 1

    def _is_settled(self, claim: Claim, settlement: Settlement) -> bool:
        """Tell whether our own settlement went through before its connection broke."""
        if settlement.outcome is Outcome.SWEPT:
            # Several may sweep one claim at the same time: only the one that changed it did.
            return False
        row = self._db.fetch_one("attempt_exists", **_guard(claim))
        return row is not None and row["outcome"] == settlement.outcome.value


def _guard(claim: Claim) -> dict[str, object]:
    """What proves a claim: without all three no write about it matches."""
    return {"id": claim.job_id, "fence": claim.fence, "incarnation": claim.incarnation}


def _group_of(claim: Claim, ending: Ending, settlement: Settlement) -> tuple[str | None, str]:
    """Give a failure that nobody could look into, such as a vanished worker's, a group as well.

    Jobs that may be half done are a group of their own: what is to be done about them is another.
    """
    if settlement.irreversible_step is not None:
        step = settlement.irreversible_step
        # Without quotes, whose content would not tell one step from another.
        key, _ = fingerprint("half done", f"may be half done at {step}", claim.task)
        return key, half_done_at(step)
    if settlement.outcome is Outcome.HANDED_BACK or ending.fingerprint is not None:
        return ending.fingerprint, ending.label or settlement.reason
    return fingerprint(settlement.outcome.value, settlement.reason, claim.task)


def _steps(
    claim: Claim, ending: Ending, settlement: Settlement, known: KnownSecrets
) -> dict[str, str | None]:
    """How far the job got: its last step, and the irreversible one that it broke off at."""
    last = ending.last_step or settlement.irreversible_step
    return {
        "last_step": redact_text(_storable(last), known)[:255] if last else None,
        "irreversible_step": settlement.irreversible_step,
        "step_read": claim.irreversible_step,
    }


def _evidence(ending: Ending) -> dict[str, str | None]:
    """Where the attempt's evidence is: its folder, in which one, on which host."""
    return {
        "evidence": ending.evidence,
        "evidence_dir": ending.evidence_dir,
        "evidence_host": this_host().name if ending.evidence_dir else None,
    }


def _told(ending: Ending, settlement: Settlement) -> str:
    """What `last_error` says: the traceback, after the word that a person has to read first."""
    if ending.last_error is None or settlement.irreversible_step is None:
        return ending.last_error or settlement.reason
    return f"{half_done_at(settlement.irreversible_step)}\n\n{ending.last_error}"


def _storable(text: str) -> str:
    """Replace half characters, which a page or a file name may hold and no column takes."""
    return text.encode("utf-8", "replace").decode()


def _fitted(text: str) -> str:
    """Cut a traceback in its middle so that it fits its column."""
    data = text.encode("utf-8", "replace")
    if len(data) <= MAX_ERROR_BYTES:
        return data.decode("utf-8", "replace")
    half = MAX_ERROR_BYTES // 2
    head, tail = data[:half], data[-half:]
    return f"{head.decode('utf-8', 'replace')}\n[…]\n{tail.decode('utf-8', 'replace')}"
