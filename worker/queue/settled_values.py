"""What the tables say of a claim that was not finished: masked, and cut to their columns."""

from __future__ import annotations

from worker.evidence.fingerprint import fingerprint
from worker.evidence.known_secrets import KnownSecrets
from worker.evidence.redaction import redact_text
from worker.models import Claim, Ending, Outcome, Status
from worker.queue.settlements import Settlement, half_done_at
from worker.system.identity import this_host

# `last_error` is a TEXT: 65,535 bytes. The head says what was called, the tail what went wrong.
MAX_ERROR_BYTES = 60_000


def guard(claim: Claim) -> dict[str, object]:
    """What proves a claim: without all three no write about it matches."""
    return {"id": claim.job_id, "fence": claim.fence, "incarnation": claim.incarnation}


def values_of(claim: Claim, ending: Ending, settlement: Settlement) -> dict[str, object]:
    """Give what is written about a settlement: the claim's proof, its history, row and group."""
    # Whoever writes this, a secret of the job's payload does not get into a table.
    known = KnownSecrets.of_payload(claim.payload)
    reason = redact_text(_storable(settlement.reason), known)
    key, label = _group_of(claim, ending, settlement)
    return {
        **guard(claim),
        "attempt": claim.attempt,
        "status": settlement.status.value,
        "outcome": settlement.outcome.value,
        "task": claim.task,
        "block": settlement.counts and settlement.outcome is Outcome.BLOCKED,
        "crash": settlement.counts and settlement.outcome is Outcome.CRASHED,
        "last_error": _fitted(redact_text(_told(ending, settlement), known)),
        "refund": 0 if settlement.counts else 1,
        "delay_seconds": settlement.delay_seconds,
        "wait_reason": reason[:255] if settlement.status is Status.PENDING else None,
        "reason": reason[:500] or None,
        "fingerprint": key,
        "label": redact_text(_storable(label), known)[:255],
        "cause": ending.cause,
        "proxy": ending.proxy,
        **_evidence(ending),
        **_steps(claim, ending, settlement, known),
    }


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
