"""Whether a job can only fail, whatever becomes of the profile that it waits for.

Judged without locks from the job, its order, and the profiles and accounts that it names. What its
payload, task, cap and secrets are worth is foreseen by the run, which knows them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from worker.claiming import turns
from worker.claiming.closed_keys import ClosedKeys
from worker.claiming.rejecting import unfit
from worker.claiming.turns import Stopped
from worker.database.client import Database
from worker.errors import PayloadError
from worker.models import Candidate, Cause, Ending
from worker.profiles import manifest, resolution
from worker.profiles.manifest import Manifest
from worker.profiles.resolution import Unresolvable

Foresee = Callable[[Candidate], Ending | None]


@dataclass(slots=True)
class Judge:
    """Judges some jobs that were read together: what they have in common is asked once."""

    db: Database
    closures: ClosedKeys
    foresee: Foresee
    # Whether this host could do what wants the same, or why nobody can.
    _prospects: dict[Manifest, bool | str]
    _failed_places: frozenset[str]

    @classmethod
    def of(
        cls, db: Database, closures: ClosedKeys, foresee: Foresee, page: list[Candidate]
    ) -> Judge:
        """A judge for these jobs."""
        places = tuple(job.order_place for job in page if job.order_place)
        return cls(db, closures, foresee, {}, turns.with_a_failure(db, places))

    def ending_of(self, candidate: Candidate) -> Ending | None:
        """Say how a job will end in any case; None for one that may be done some time."""
        try:
            wanted = manifest.read(candidate)
        except PayloadError as error:
            return unfit(str(error), Cause.CODE)
        if problem := turns.problem_of(candidate, wanted.temporary):
            return unfit(problem, Cause.CODE)
        turn = self._turn_of(candidate)
        if turn is not None:
            is_over = isinstance(turn, Stopped)
            return unfit(turn.reason, Cause.CONTENTION) if is_over else None
        prospect = self._prospect_of(wanted)
        if isinstance(prospect, str):
            return unfit(prospect, Cause.PROFILE)
        # On the host of its profile other tasks and secrets may be at hand.
        return self.foresee(candidate) if prospect else None

    def _turn_of(self, candidate: Candidate) -> turns.Turn:
        place = candidate.order_place
        if (order := self.closures.orders.find(place)) is None or place is None:
            return None
        if place.startswith(turns.KEY) and place not in self._failed_places:
            # Searches find only the first job at a place.
            return None
        return turns.judge(self.db, candidate, order)

    def _prospect_of(self, wanted: Manifest) -> bool | str:
        if not wanted.has_owner:
            return True
        alike = replace(wanted, site="", task="")
        if alike not in self._prospects:
            try:
                self._prospects[alike] = resolution.check(self.db, alike)
            except Unresolvable as problem:
                self._prospects[alike] = str(problem)
        return self._prospects[alike]
