"""Getting an outcome into the database, however long that is away.

Tried at once; if the database does not answer, the outcome goes to the journal first and is then
tried until it is in, or until the worker must end: the next start finds it in the journal.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

from worker.database.client import Database
from worker.errors import ClaimLost, DatabaseUnavailable
from worker.models import Candidate, Claim, Ending, Outcome, Owner, Status
from worker.queue import journal
from worker.queue.claims import Queue

FIRST_PATIENCE_SECONDS = 1.0

logger = logging.getLogger("nightshift.worker")


@dataclass(frozen=True, slots=True)
class OutcomeWriter:
    """Writes the outcomes of one incarnation."""

    db: Database
    queue: Queue
    journal_folder: Path
    incarnation: int

    def settle(self, claim: Claim, ending: Ending) -> Status:
        """Write an outcome under its fence; raises ClaimLost when the job is another's by now.

        Raises DatabaseUnavailable when the worker must end first; the journal has it then.
        """
        try:
            with self.db.patience(FIRST_PATIENCE_SECONDS):
                return self.queue.end(claim, ending)
        except DatabaseUnavailable as error:
            logger.warning("the outcome of job %s waits: %s", claim.job_id, error)
        path = self._keep(claim, ending)
        try:
            status = self.queue.end(claim, ending)
        except ClaimLost:
            self._drop(path)
            raise
        self._drop(path)
        logger.warning("the outcome of job %s is written: %s", claim.job_id, status)
        return status

    def finish(
        self, claim: Claim, result: str, owner: Owner, candidate: Candidate | None
    ) -> Claim | None:
        """Finish a job and, in the same transaction, claim the candidate if there is one.

        Raises ClaimLost only when there is no next claim to return with it.
        """
        ending = Ending(Outcome.DONE, result=result)
        if candidate is None or self.queue.has_listener(claim):
            self.settle(claim, ending)
            return None
        try:
            with self.db.patience(FIRST_PATIENCE_SECONDS):
                is_settled, following = self.queue.complete_and_claim(
                    claim, result, owner, candidate
                )
        except DatabaseUnavailable:
            # Perhaps it was written before the connection broke: both parts can be asked for.
            self.settle(claim, ending)
            return self.queue.reclaim(owner, candidate)
        if not is_settled:
            lost = ClaimLost(claim.job_id, claim.fence)
            if following is None:
                raise lost
            logger.error("%s", lost)
        return following

    def _keep(self, claim: Claim, ending: Ending) -> Path | None:
        try:
            return journal.write(self.journal_folder, self.incarnation, claim, ending)
        except OSError as error:
            # It is still in memory, and written as soon as the database is back.
            logger.error("the journal cannot be written: %s", error)
            return None

    def _drop(self, path: Path | None) -> None:
        if path is not None:
            path.unlink(missing_ok=True)
