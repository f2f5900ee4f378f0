"""Irreversible steps in a job's row: written before they are begun, so that every death tells.

Whoever settles the job afterwards finds the step there, on whatever host. Only such steps are
written: an ordinary job costs nothing more.
"""

from __future__ import annotations

from worker.database.client import Database
from worker.errors import ClaimLost
from worker.models import Claim
from worker.queue import standing

MAX_STEP_CHARACTERS = 255


def begin(db: Database, claim: Claim, step: str) -> None:
    """Keep that a job is about to do what cannot be taken back.

    Raises ClaimLost when the job is another's by now, and DatabaseUnavailable when it cannot be
    written: in both cases the step must not be begun.
    """
    kept = storable(step)
    guard = _guard(claim)

    def write() -> bool:
        if db.execute("begin_irreversible_step", **guard, step=kept) == 1:
            return True
        # It may have been written before, by this very statement or for an earlier step of that
        # name.
        row = db.fetch_one("irreversible_step_of_claim", **guard)
        return row is not None and row["irreversible_step"] == kept

    if not standing.prevails(db, claim, write):
        raise ClaimLost(claim.job_id, claim.fence)


def end(db: Database, claim: Claim) -> None:
    """Keep that a job has left its irreversible step behind; of a lost claim nothing is written."""
    db.execute("end_irreversible_step", **_guard(claim))


def storable(step: str) -> str:
    """Cut a step to what its column takes, without half characters."""
    return step.encode("utf-8", "replace").decode()[:MAX_STEP_CHARACTERS]


def _guard(claim: Claim) -> dict[str, object]:
    return {"id": claim.job_id, "fence": claim.fence, "incarnation": claim.incarnation}
