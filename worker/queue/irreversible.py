"""Irreversible steps in a job's row: written before they are begun, so that every death tells.

Whoever settles the job afterwards finds the step there, on whatever host. One that was left behind
stays there as taken, and no later attempt begins it. An ordinary job costs nothing more.
"""

from __future__ import annotations

from worker.database.client import Database
from worker.errors import ClaimLost, StepTaken
from worker.models import Claim
from worker.queue import standing

MAX_STEP_CHARACTERS = 255


def begin(db: Database, claim: Claim, step: str, *, is_own: bool = False) -> None:
    """Keep that a job is about to do what cannot be taken back.

    `is_own` says that this attempt has begun a step of that name before, which it may repeat.
    Raises StepTaken when an earlier attempt has taken the step, ClaimLost when the job is another's
    by now, and DatabaseUnavailable when it cannot be written: then it must not be begun.
    """
    kept = storable(step)
    guard = _guard(claim)

    def write() -> bool:
        if db.execute("begin_irreversible_step", **guard, step=kept, is_own=is_own) == 1:
            return True
        # It may have been written before, by this very statement or for an earlier step of that
        # name.
        row = db.fetch_one("irreversible_step_of_claim", **guard)
        if row is not None and row["irreversible_step"] == kept:
            return True
        if row is not None and kept in taken(row["taken_steps"]):
            raise StepTaken(claim.job_id, kept)
        return False

    if not standing.prevails(db, claim, write):
        raise ClaimLost(claim.job_id, claim.fence)


def end(db: Database, claim: Claim, step: str) -> None:
    """Keep that a job has taken a step and left it; of a lost claim nothing is written."""
    db.execute("end_irreversible_step", **_guard(claim), step=storable(step))


def forget(db: Database, claim: Claim) -> None:
    """Keep that nothing came of a job's step: it may be taken again."""
    db.execute("forget_irreversible_step", **_guard(claim))


def taken(text: str | None) -> list[str]:
    """Read the steps that a job's attempts have taken and left behind."""
    return [step for step in (text or "").split("\n") if step]


def storable(step: str) -> str:
    """Cut a step to one line that its column takes, without half characters."""
    whole = step.encode("utf-8", "replace").decode()
    return " ".join(whole.splitlines())[:MAX_STEP_CHARACTERS].strip()


def _guard(claim: Claim) -> dict[str, object]:
    return {"id": claim.job_id, "fence": claim.fence, "incarnation": claim.incarnation}
