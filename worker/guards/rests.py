"""Leave a profile alone for a while because its provider cannot give it now, whatever the task is.

That is its breaker, opened at once and for all tasks: one job looks again when the time is over,
and each further time in vain doubles it.
"""

from __future__ import annotations

import logging

from worker.database.client import Database, Transaction
from worker.guards import breakers, canaries
from worker.guards.breakers import WINDOW_SECONDS, failing_tasks
from worker.guards.keys import ClosedKey
from worker.models import Claim, Ending
from worker.queue import events
from worker.queue.events import EventKind
from worker.retry_after import shared_wait_seconds

logger = logging.getLogger("nightshift.breakers")


def begin(db: Database, claim: Claim, ending: Ending, cooldown_seconds: float) -> None:
    """Let the profile of a job rest that could not have it; longer if it has just rested."""
    key = key_of(claim)
    if claim.canary == key:
        canaries.failed_for_all(
            db, claim, ending.reason, ending.retry_after_seconds, cooldown_seconds
        )
        return

    def open_it(tx: Transaction) -> bool:
        tx.execute("open_window", name=key, window_seconds=WINDOW_SECONDS)
        tx.fetch_all("lock_breaker", name=key)
        seconds = max(cooldown_seconds, shared_wait_seconds(ending.retry_after_seconds))
        reason = ending.reason[:255]
        if tx.execute("rest_breaker", name=key, reason=reason, seconds=seconds) != 1:
            return False
        events.begin(tx, EventKind.BREAKER, key, reason=reason)
        return True

    if db.transaction(open_it):
        logger.warning("%s is left alone for a while: %s", key, ending.reason)


def is_over(db: Database, claim: Claim) -> bool:
    """End a rest whose canary did get the profile, however its task ended then.

    Tells whether its breaker was such a rest.
    """
    if claim.canary is None or claim.canary != key_of(claim):
        return False

    def close(tx: Transaction) -> bool:
        row = canaries.sent_from(tx, claim)
        if row is None or not row["openings"] or failing_tasks(row):
            return False
        events.end(tx, EventKind.BREAKER, row["name"], closed_by=f"its canary, job {claim.job_id}")
        return tx.execute("close_breaker", name=row["name"]) == 1

    return db.transaction(close)


def of_profile(db: Database, profile_id: str) -> ClosedKey | None:
    """Say why a profile is left alone now, and for how long, if it is."""
    rows = [row for row in breakers.tripped(db) if row["name"] == f"profile:{profile_id}"]
    return breakers.refuses(rows[0]) if rows else None


def key_of(claim: Claim) -> str:
    """The breaker of the profile that a job has leased."""
    return f"profile:{claim.profile_id}"
