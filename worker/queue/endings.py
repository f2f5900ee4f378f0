"""How claims end: done, back to wait, handed back, or error. Every write carries the fence.

What is written is decided in settlements.py. A finish is one row and its own record; any other
settlement is one transaction with its history, its group and its event. One that may have reached
the server before can be repeated: it tells.
"""

from __future__ import annotations

from collections.abc import Mapping

from worker.database.client import Database, Transaction
from worker.errors import ClaimLost
from worker.models import Claim, Ending, Outcome, Status
from worker.queue import added_jobs, standing
from worker.queue.settled_values import guard, values_of
from worker.queue.settlements import MAX_BLOCKS, Settlement, settlement_of


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

    def end_unclaimable(self, job_id: int, reason: str) -> bool:
        """End a pending job that can never be claimed; False if its counters have room."""
        return self._db.execute("end_unclaimable", id=job_id, reason=reason) == 1

    def is_finished(self, job_id: int, fence: int, incarnation: int | None) -> bool:
        """Tell whether a job was finished by one claim, whatever became of the connection."""
        row = self._db.fetch_one("own_finish", id=job_id, fence=fence, incarnation=incarnation)
        return row is not None

    def _finish(self, claim: Claim, ending: Ending) -> bool:
        written = {**guard(claim), "result": ending.result or "null", "proxy": ending.proxy}
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
            tx.execute("event_of_finish", **guard(claim), default_callback=self.default_callback)
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
        name = "settle_and_tell" if claim.has_listener else "settle_job"
        counts = self._db.run_script(
            name,
            **values_of(claim, ending, settlement),
            default_callback=self.default_callback,
            only_if_expired=only_if_expired,
            as_read=as_read,
        )
        return counts[1] == 1

    def _settle_and_take(
        self, claim: Claim, ending: Ending, following: Mapping[str, object]
    ) -> tuple[bool, bool]:
        """Write an own claim's settlement and the next claim at once; tell which of them held."""
        counts = self._db.run_script(
            "settle_and_take",
            **values_of(claim, ending, self.settlement_of(claim, ending)),
            only_if_expired=False,
            as_read=False,
            **{f"next_{name}": value for name, value in following.items()},
        )
        return counts[1] == 1, counts[2] == 1

    def _is_settled(self, claim: Claim, settlement: Settlement) -> bool:
        """Tell whether our own settlement went through before its connection broke."""
        if settlement.outcome is Outcome.SWEPT:
            # Several may sweep one claim at the same time: only the one that changed it did.
            return False
        row = self._db.fetch_one("attempt_exists", **guard(claim))
        return row is not None and row["outcome"] == settlement.outcome.value
