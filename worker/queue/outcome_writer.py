"""Getting an outcome into the database, however long that is away.

Tried at once; if the database does not answer, the outcome goes to the journal first and is then
tried until it is in, or until the worker must end: the next start finds it in the journal.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from worker.database.client import Database, DatabaseError
from worker.errors import BadData, ClaimLost, DatabaseUnavailable, RowsLocked
from worker.models import Candidate, Cause, Claim, Ending, Outcome, Owner
from worker.queue import journal
from worker.queue.claims import Queue
from worker.queue.settlements import Settlement
from worker.records import record

FIRST_PATIENCE_SECONDS = 1.0

logger = logging.getLogger("nightshift.worker")


@record(frozen=True, slots=True)
class Written:
    """What was written, None when the claim was lost; and the claim made together with that.

    `refused` is set when nothing was written because the server takes no such outcome: it is what
    should be written instead (`write_instead`), once its evidence is kept.
    """

    settlement: Settlement | None
    following: Claim | None = None
    refused: Ending | None = None


@dataclass(frozen=True, slots=True)
class OutcomeWriter:
    """Writes the outcomes of one incarnation."""

    db: Database
    queue: Queue
    journal_folder: Path
    owner: Owner
    # Whether there may be no time to wait for the database before this process is killed.
    is_in_a_hurry: Callable[[], bool] = lambda: False

    def write(self, claim: Claim, ending: Ending, candidate: Candidate | None = None) -> Written:
        """Write an outcome under its fence, and claim the candidate with it if there is one.

        Raises DatabaseUnavailable when the worker must end first; the journal has it then.
        """
        try:
            if candidate is not None:
                return self._end_and_take(claim, ending, candidate)
            return Written(self._end(claim, ending))
        except BadData as error:
            reason = f"its result cannot be stored: {error}"
            refused = replace(
                ending,
                outcome=Outcome.ERROR,
                reason=reason,
                cause=Cause.CODE,
                result=None,
                follow_ups=(),
            )
            return Written(None, refused=refused)

    def write_instead(self, claim: Claim, refused: Ending) -> Written:
        """Write what stands for an outcome that the server has refused; raises as `write` does."""
        return Written(self._end(claim, refused))

    def _end_and_take(self, claim: Claim, ending: Ending, candidate: Candidate) -> Written:
        try:
            with self.db.patience(FIRST_PATIENCE_SECONDS), self.db.passing_locks():
                is_written, following = self._both(claim, ending, candidate)
        except (RowsLocked, BadData):
            # Somebody holds one of the two rows, or the server refuses what is written to it: the
            # outcome must not wait, nor answer, for the other one.
            return Written(self._end(claim, ending))
        except (DatabaseUnavailable, DatabaseError):
            # Perhaps it was written before the connection broke: both parts can be asked for.
            settlement = self._end(claim, ending)
            return Written(settlement, self.queue.reclaim(self.owner, candidate))
        if not is_written:
            # Lost, or not known yet to the server that was asked: the plain way tells.
            return Written(self._end(claim, ending), following)
        return Written(self.queue.settlement_of(claim, ending), following)

    def _both(
        self, claim: Claim, ending: Ending, candidate: Candidate
    ) -> tuple[bool, Claim | None]:
        if ending.outcome is not Outcome.DONE:
            return self.queue.settle_and_take(claim, ending, self.owner, candidate)
        return self.queue.finish_and_take(
            claim, ending.result or "null", self.owner, candidate, proxy=ending.proxy
        )

    def _end(self, claim: Claim, ending: Ending) -> Settlement | None:
        """Write an outcome; None, loudly, when the claim was lost and nothing was written."""
        if self.is_in_a_hurry():
            return self._end_later(claim, ending, self._keep(claim, ending))
        try:
            with self.db.patience(FIRST_PATIENCE_SECONDS):
                return self.queue.end(claim, ending)
        except ClaimLost as lost:
            logger.error("%s", lost)
            return None
        except (DatabaseUnavailable, DatabaseError) as error:
            logger.warning("the outcome of job %s waits: %s", claim.job_id, error)
        return self._end_later(claim, ending, self._keep(claim, ending))

    def _end_later(self, claim: Claim, ending: Ending, kept: Path | None) -> Settlement | None:
        settlement = None
        try:
            settlement = self.queue.end(claim, ending)
            logger.info("the outcome of job %s is written: %s", claim.job_id, settlement.status)
        except ClaimLost as lost:
            logger.error("%s", lost)
        if kept is not None:
            kept.unlink(missing_ok=True)
        return settlement

    def _keep(self, claim: Claim, ending: Ending) -> Path | None:
        try:
            return journal.write(self.journal_folder, self.owner.incarnation, claim, ending)
        except OSError as error:
            # It is still in memory, and written as soon as the database is back.
            logger.error("the journal cannot be written: %s", error)
            return None
