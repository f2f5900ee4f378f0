"""Claiming a job only to end it: it cannot be done, or need not be."""

from __future__ import annotations

import logging

from worker.claiming import turns
from worker.claiming.turns import Stopped
from worker.database.client import Database, Transaction
from worker.errors import BadData, RowsLocked
from worker.guards.keys import ClosedKey
from worker.models import Candidate, Cause, Ending, Outcome, Owner, Rejection
from worker.queue.claims import Queue

logger = logging.getLogger("nightshift.gate")


def unfit(reason: str, cause: Cause) -> Ending:
    """The ending of a job that cannot be done."""
    return Ending(Outcome.ERROR, reason, cause)


def reject(queue: Queue, owner: Owner, candidate: Candidate, ending: Ending) -> Rejection | None:
    """Claim a job that will be ended without a browser; None when it is another's by now."""
    claim = queue.take(owner, candidate)
    return None if claim is None else Rejection(claim, ending)


def reject_in_turn(
    queue: Queue, db: Database, owner: Owner, candidate: Candidate, ending: Ending
) -> Rejection | None:
    """Do the same if it is the job's turn in its order; None, too, while somebody holds its row."""

    def decide(tx: Transaction) -> Rejection | None:
        turn = turns.admit(tx, candidate, turns.order_of(tx, candidate))
        if isinstance(turn, ClosedKey):
            tx.discard()
            return None
        if isinstance(turn, Stopped):
            return stop(queue, tx, owner, candidate, turn)
        return _within(queue, tx, owner, candidate, ending)

    try:
        with db.passing_locks():
            queue.keep_former_finish(candidate)
            rejected = db.transaction(decide)
            if rejected is None and (mine := queue.reclaim(owner, candidate)) is not None:
                # It was claimed just before the connection broke.
                rejected = Rejection(mine, ending)
    except RowsLocked:
        return None
    except BadData as error:
        end_unclaimable(queue, candidate, error)
        return None
    return rejected


def end_unclaimable(queue: Queue, candidate: Candidate, error: BadData) -> bool:
    """End a job whose claim the server refuses, if it will do so for ever; tell which job it is."""
    reason = (
        f"it cannot be claimed: its attempts ({candidate.attempts}) or its fence "
        f"({candidate.fence}) stand at the end of their range"
    )
    is_ended = queue.end_unclaimable(candidate.job_id, reason)
    told = f"is an error: {reason}" if is_ended else f"is passed over for a while: {error}"
    logger.error("job %s %s", candidate.job_id, told)
    return is_ended


def stop(
    queue: Queue, tx: Transaction, owner: Owner, candidate: Candidate, stopped: Stopped
) -> Rejection | None:
    """Claim a job that is not to be done, because one before it failed."""
    return _within(queue, tx, owner, candidate, unfit(stopped.reason, Cause.CONTENTION))


def _within(
    queue: Queue, tx: Transaction, owner: Owner, candidate: Candidate, ending: Ending
) -> Rejection | None:
    if not queue.take_within(tx, owner, candidate):
        tx.discard()
        return None
    return Rejection(queue.claim_of(owner, candidate), ending)
