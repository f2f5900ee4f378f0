"""Claiming what needs permission: limits, breakers, a profile's lease and the claim, at once.

All of it is one transaction. Jobs that belong to no watched key pass by and cost nothing here. A
refused job stays as it is, pending and without an attempt spent; its key is left alone for a
moment. A job that cannot be done at all comes back as a rejection, with its ending.
"""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, replace

from worker.claiming import rejecting, turns
from worker.claiming.candidates import Candidates
from worker.claiming.closed_keys import ClosedKeys
from worker.claiming.rejecting import reject, unfit
from worker.claiming.turns import Stopped
from worker.database.best_effort import best_effort
from worker.database.client import Database, Row, Transaction
from worker.errors import BadData, PayloadError, RowsLocked
from worker.guards import breakers, canaries, limits, pace, rests
from worker.guards.keys import ClosedKey, keys_of
from worker.guards.pace import Resting
from worker.models import Candidate, Cause, Claim, Ending, Outcome, Owner, Rejection, Route
from worker.profiles import account_hours, leases, manifest, refusals
from worker.profiles.leases import Holder
from worker.profiles.manifest import Manifest
from worker.profiles.readiness import NotReady
from worker.profiles.resolution import Unresolvable, keys_by_profile, resolve
from worker.queue.claims import Queue
from worker.settings import RunSettings

logger = logging.getLogger("nightshift.gate")


@dataclass(frozen=True, slots=True)
class Gate:
    """The way from candidates to claims, for one worker."""

    db: Database
    queue: Queue
    closures: ClosedKeys
    canary_seconds: float
    breaker_cooldown_seconds: float = breakers.COOLDOWN_SECONDS

    @classmethod
    def of_run(
        cls, db: Database, queue: Queue, closures: ClosedKeys, settings: RunSettings
    ) -> Gate:
        """The gate as a run's settings want it."""
        return cls(
            db,
            queue,
            closures,
            canary_seconds=settings.job_timeout_seconds + settings.hang_grace_seconds,
            breaker_cooldown_seconds=settings.breaker_cooldown_seconds,
        )

    def claim(self, owner: Owner, candidates: Candidates) -> Claim | Rejection | None:
        """Claim the next ready job that may run, or return None when there is none now."""
        hopeless = candidates.hopeless
        while (candidate := hopeless.next()) is not None:
            if (ending := hopeless.ending_of(candidate)) is not None and (
                rejected := rejecting.reject_in_turn(self.queue, self.db, owner, candidate, ending)
            ):
                return rejected
        while (candidate := candidates.impatient.next()) is not None:
            if (found := self._try(owner, candidate, candidates)) is not None:
                return found
        refused: set[int] = set()
        while (candidate := candidates.next()) is not None:
            if candidate.job_id in refused:
                # Its key was not closed by what refused it: it is looked at again, but not now.
                return None
            if self.closures.is_watched(candidate):
                refused.add(candidate.job_id)
            if (found := self._try(owner, candidate, candidates)) is not None:
                return found
        return None

    def _try(
        self, owner: Owner, candidate: Candidate, candidates: Candidates
    ) -> Claim | Rejection | None:
        try:
            with self.db.passing_locks():
                if self.closures.is_watched(candidate):
                    return self._claim_with_permission(owner, candidate)
                return self.queue.take(owner, candidate)
        except RowsLocked as error:
            # Other jobs need not wait for a row that somebody holds.
            candidates.avoid(candidate)
            logger.info("job %s is passed over for a while: %s", candidate.job_id, error)
            return None
        except BadData as error:
            if not rejecting.end_unclaimable(self.queue, candidate, error):
                candidates.avoid(candidate)
            return None

    def tell(self, claim: Claim, ending: Ending) -> None:
        """Tell the breakers how a job ended; they open when many fail, and close on a success."""
        if ending.outcome is Outcome.DONE and claim.canary is None and not self.closures.tripped:
            # Nobody waits for this success, and most are so.
            return
        with best_effort(self.db, "a breaker was not told"):
            if ending.outcome is Outcome.DONE:
                self._succeeded(claim)
            elif ending.rests_profile and claim.lease_fence is not None:
                self._rest(claim, ending)
            elif claim.canary is not None and rests.is_over(self.db, claim):
                logger.warning("%s can be had again", claim.canary)
            elif claim.canary is not None:
                self._canary_failed(claim, ending)
            elif ending.blames_site:
                self._failed(claim, ending)

    def look_again(self) -> None:
        """See what a block has closed, before another job of that site is claimed in vain."""
        with best_effort(self.db, "the closed keys were not read again"):
            self.closures.refresh(at_once=True)

    def _succeeded(self, claim: Claim) -> None:
        if claim.canary is not None:
            canaries.came_back(self.db, claim)
            logger.warning("%s works again: its breaker is closed", claim.canary)
        elif keys := self.closures.tripped.intersection(claim.breaker_keys):
            breakers.note_success(self.db, keys, claim.task)

    def _rest(self, claim: Claim, ending: Ending) -> None:
        if claim.canary not in (None, rests.key_of(claim)):
            # It was sent for its site, and has not come there.
            canaries.was_useless(self.db, claim, self.breaker_cooldown_seconds)
        rests.begin(self.db, claim, ending, self.breaker_cooldown_seconds)
        # The profile is about to be free, and its other jobs are not to find out one by one.
        self.closures.refresh(at_once=True)

    def _canary_failed(self, claim: Claim, ending: Ending) -> None:
        if not ending.blames_site:
            canaries.was_useless(self.db, claim, self.breaker_cooldown_seconds)
            return
        canaries.failed(
            self.db,
            claim,
            ending.reason,
            ending.retry_after_seconds,
            self.breaker_cooldown_seconds,
        )

    def _failed(self, claim: Claim, ending: Ending) -> None:
        for key in claim.breaker_keys:
            if breakers.note_failure(
                self.db,
                key,
                claim.task,
                ending.reason,
                ending.retry_after_seconds,
                self.breaker_cooldown_seconds,
            ):
                logger.warning(
                    "%s fails too often and is left alone for a while: %s", key, ending.reason
                )
        # Another worker may have opened it a moment ago: the jobs at hand are not to be burnt.
        self.closures.refresh(at_once=True)

    def _claim_with_permission(
        self, owner: Owner, candidate: Candidate
    ) -> Claim | Rejection | None:
        self.queue.keep_former_finish(candidate)
        try:
            wanted = manifest.read(candidate)
        except PayloadError as error:
            return reject(self.queue, owner, candidate, unfit(str(error), Cause.CODE))
        if problem := turns.problem_of(candidate, wanted.temporary):
            return reject(self.queue, owner, candidate, unfit(problem, Cause.CODE))
        answer = self.db.transaction(lambda tx: self._decide(tx, owner, candidate, wanted))
        if isinstance(answer, Claim | Rejection):
            return answer
        # What refuses it may be its own claim, made just before the connection broke.
        if (mine := self._reclaim(owner, candidate, wanted)) is not None:
            return mine
        if isinstance(answer, NotReady):
            return self._refused(owner, candidate, wanted, answer)
        if isinstance(answer, Resting):
            with best_effort(self.db, "a cap that is reached was not noted"):
                pace.rest(self.db, answer)
        if isinstance(answer, ClosedKey):
            self.closures.close(answer, candidate)
        return None

    def _decide(
        self, tx: Transaction, owner: Owner, candidate: Candidate, wanted: Manifest
    ) -> ClosedKey | NotReady | Claim | Rejection | None:
        turn = turns.admit(tx, candidate, turns.order_of(tx, candidate))
        if isinstance(turn, ClosedKey):
            tx.discard()
            return turn
        if isinstance(turn, Stopped):
            return rejecting.stop(self.queue, tx, owner, candidate, turn)
        keys = (*keys_of(candidate), *keys_by_profile(tx, wanted))
        if refusal := account_hours.admit(tx, keys) or limits.admit(tx, keys):
            tx.discard()
            return refusal
        refusal, canary = breakers.admit(tx, keys, candidate.task)
        if refusal:
            tx.discard()
            return refusal
        claim = replace(self.queue.claim_of(owner, candidate), canary=canary)
        entered: Claim | Rejection | NotReady
        try:
            entered = self._enter(tx, owner, claim, wanted)
        except Unresolvable as error:
            entered = Rejection(replace(claim, canary=None), unfit(str(error), Cause.PROFILE))
        if isinstance(entered, NotReady):
            tx.discard()
            return entered
        route = entered.route if isinstance(entered, Claim) else None
        if not self.queue.take_within(tx, owner, candidate, route):
            tx.discard()
            return None
        if isinstance(entered, Claim) and entered.canary is not None:
            canaries.send(tx, entered.canary, entered, self.canary_seconds)
        return entered

    def _enter(
        self, tx: Transaction, owner: Owner, claim: Claim, wanted: Manifest
    ) -> Claim | NotReady:
        """Lease the profile that a job wants, if it wants one and may have it."""
        if not wanted.has_owner:
            return claim
        profile = resolve(tx, wanted)
        if profile is None:
            return claim
        if isinstance(profile, NotReady):
            return profile
        holder = Holder(str(owner), owner.incarnation, claim.job_id, claim.fence)
        fence = leases.take(
            tx,
            profile,
            holder,
            lease_seconds=self.queue.lease_seconds,
            exclusive=wanted.exclusive,
        )
        canary = claim.canary or profile.get("canary")
        return replace(_with_lease(claim, profile["id"], fence, profile), canary=canary)

    def _refused(
        self, owner: Owner, candidate: Candidate, wanted: Manifest, refusal: NotReady
    ) -> Rejection | None:
        decision = refusals.decide(self.db, candidate, wanted, refusal)
        why = refusal.closed_key.reason
        if decision in ("wait", "reschedule"):
            refusals.keep(self.db, candidate, wanted, refusal, decision, str(owner))
            self.closures.close(refusal.closed_key)
            return None
        refusals.record(self.db, candidate, refusal, decision, str(owner), None)
        match decision:
            case "skip":
                skipped = Ending(Outcome.DONE, result=json.dumps({"skipped": why}))
                return reject(self.queue, owner, candidate, skipped)
            case "review":
                why = f"put up for review: {why}"
            case "timeout":
                why = f"waited {wanted.lock_timeout_seconds:g} s, its lock timeout: {why}"
        return reject(self.queue, owner, candidate, unfit(why, Cause.CONTENTION))

    def _reclaim(
        self, owner: Owner, candidate: Candidate, wanted: Manifest
    ) -> Claim | Rejection | None:
        """Find a claim, and its lease, that were made before their connection broke."""
        claim = self.queue.reclaim(owner, candidate)
        if claim is None:
            return None
        lease = self.db.fetch_one(
            "lease_of_claim",
            job_id=claim.job_id,
            job_fence=claim.fence,
            incarnation=owner.incarnation,
        )
        if lease is None and wanted.has_owner:
            # Whether it was to be rejected is not known any more.
            lost = "handed back: the connection broke while it was claimed"
            return Rejection(claim, Ending(Outcome.HANDED_BACK, lost, Cause.POOL))
        if lease is None:
            return claim
        return _with_lease(claim, lease["profile_id"], lease["fence"], lease)


def _with_lease(claim: Claim, profile_id: str, fence: int, row: Row) -> Claim:
    """Join a claim with its lease; the account may be known by the profile alone."""
    route = Route(profile_id, row["account_id"] or claim.account_id, row["proxy"])
    return replace(
        claim, profile_id=profile_id, account_id=route.account, lease_fence=fence, route=route
    )
