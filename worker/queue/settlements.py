"""The one table from what happened to a claim to what is written about it."""

from __future__ import annotations

from worker.models import Claim, Ending, Outcome, Status
from worker.records import record

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
