"""How a claim stands on the server that a write about it has met; `freshness` decides by that."""

from __future__ import annotations

from collections.abc import Callable

from worker.database import freshness
from worker.database.client import Database
from worker.database.freshness import Standing
from worker.models import Claim, Status


def prevails(db: Database, claim: Claim, write: Callable[[], bool]) -> bool:
    """Write about a claim of ours; return False once it is certain that the claim is lost.

    Raises StaleServer when the server has not got the claim itself within the patience.
    """

    def look() -> Standing:
        row = db.fetch_one("standing_of_claim", id=claim.job_id)
        if row is None:
            return Standing.MISSING
        is_ours = row["incarnation"] == claim.incarnation and row["status"] == Status.IN_PROGRESS
        return freshness.by_fence(row["fence"], claim.fence, is_ours=is_ours)

    return freshness.prevails(db, write, look)
