"""Claiming what needs leave: limits, breakers, a profile's lease and the claim: one transaction.

Jobs that belong to no watched key pass by and cost nothing here. A refused job stays as it is,
pending and without an attempt spent; its key is left alone for a moment.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace

from worker.claiming.candidates import Candidates
from worker.claiming.closed_keys import ClosedKeys
from worker.database.client import Database, Transaction
from worker.errors import DatabaseUnavailable, PayloadError
from worker.guards import breakers, canaries, limits
from worker.guards.keys import ClosedKey, keys_of
from worker.models import Candidate, Cause, Claim, Owner
from worker.profiles import leases, manifest, refusals
from worker.profiles.leases import Holder
from worker.profiles.manifest import Manifest
from worker.profiles.readiness import NotReady
from worker.profiles.resolution import Unresolvable, keys_by_profile, resolve
from worker.queue.claims import Queue

logger = logging.getLogger("nightshift.gate")


@dataclass(frozen=True, slots=True)
class Gate:
    """The way from candidates to claims, for one worker."""

    db: Database
    queue: Queue
    closures: ClosedKeys
    canary_seconds: float
    breaker_cooldown_seconds: float = breakers.COOLDOWN_SECONDS

    def claim(self, owner: Owner, candidates: Candidates) -> Claim | None:
        """Claim the next ready job that may run, or return None when there is none now."""
        while (candidate := candidates.next_impatient()) is not None:
            if (claim := self._claim_with_leave(owner, candidate)) is not None:
                return claim
        refused: set[int] = set()
        while (candidate := candidates.next()) is not None:
            if candidate.job_id in refused:
                # Its key was not closed by what refused it: it is looked at again, but not now.
                return None
            if self.closures.is_watched(candidate):
                claim = self._claim_with_leave(owner, candidate)
                refused.add(candidate.job_id)
            else:
                claim = self.queue.take(owner, candidate)
            if claim is not None:
                return claim
        return None

    def succeeded(self, claim: Claim) -> None:
        """Tell the breakers of a success that they wait for."""
        if claim.canary is not None:
            self._tell(lambda: canaries.came_back(self.db, claim))
            logger.warning("%s works again: its breaker is closed", claim.canary)
        elif keys := self.closures.tripped.intersection(claim.breaker_keys):
            self._tell(lambda: breakers.note_success(self.db, keys, claim.task))

    def failed(
        self, claim: Claim, reason: str, *, blames_site: bool, retry_after: float | None = None
    ) -> None:
        """Tell the breakers of a failure; they open when there are many."""
        if claim.canary is not None:
            if blames_site:
                self._tell(lambda: self._note_canary(claim, reason, retry_after))
            else:
                cooldown = self.breaker_cooldown_seconds
                self._tell(lambda: canaries.was_useless(self.db, claim, cooldown))
        elif blames_site:
            self._tell(lambda: self._note(claim, reason, retry_after))

    def look_again(self) -> None:
        """See what a block has closed, before another job of that site is claimed in vain."""
        self._tell(lambda: self.closures.refresh(at_once=True))

    def _note(self, claim: Claim, reason: str, retry_after: float | None) -> None:
        for key in claim.breaker_keys:
            if breakers.note_failure(
                self.db, key, claim.task, reason, retry_after, self.breaker_cooldown_seconds
            ):
                logger.warning("%s fails too often and is left alone a while: %s", key, reason)
        # Another worker may have opened it a moment ago: the jobs at hand are not to be burnt.
        self.closures.refresh(at_once=True)

    def _note_canary(self, claim: Claim, reason: str, retry_after: float | None) -> None:
        canaries.failed(self.db, claim, reason, retry_after, self.breaker_cooldown_seconds)

    def _tell(self, what: Callable[[], None]) -> None:
        try:
            what()
        except DatabaseUnavailable as error:
            # A breaker is an estimate; the job's outcome, which is not, has been written.
            logger.debug("a breaker was not told: %s", error)

    def _claim_with_leave(self, owner: Owner, candidate: Candidate) -> Claim | None:
        self.queue.keep_former_finish(candidate)
        try:
            wanted = manifest.read(candidate)
        except PayloadError as error:
            return self._claim_unfit(owner, candidate, problem=str(error))
        answer = self.db.transaction(lambda tx: self._decide(tx, owner, candidate, wanted))
        if isinstance(answer, Claim):
            return answer
        # What refuses it may be its own claim, made just before the connection broke.
        if (mine := self._reclaim(owner, candidate)) is not None:
            return mine
        if isinstance(answer, NotReady):
            return self._refused(owner, candidate, wanted, answer)
        if isinstance(answer, ClosedKey):
            self.closures.close(answer, candidate)
        return None

    def _decide(
        self, tx: Transaction, owner: Owner, candidate: Candidate, wanted: Manifest
    ) -> ClosedKey | NotReady | Claim | None:
        keys = (*keys_of(candidate), *keys_by_profile(tx, wanted))
        if refusal := limits.admit(tx, keys):
            tx.discard()
            return refusal
        refusal, canary = breakers.admit(tx, keys, candidate.task)
        if refusal:
            tx.discard()
            return refusal
        claim = replace(self.queue.claim_of(candidate), canary=canary)
        try:
            entered = self._enter(tx, owner, claim, wanted)
        except Unresolvable as error:
            entered = replace(claim, canary=None, problem=str(error), problem_cause=Cause.PROFILE)
        if isinstance(entered, NotReady) or not self.queue.take_within(tx, owner, candidate):
            tx.discard()
            return entered if isinstance(entered, NotReady) else None
        if entered.canary is not None:
            canaries.send(tx, entered.canary, entered, self.canary_seconds)
        return entered

    def _enter(
        self, tx: Transaction, owner: Owner, claim: Claim, wanted: Manifest
    ) -> Claim | NotReady:
        """Lease the profile that a job wants, if it wants one and may have it."""
        if wanted.temporary or (wanted.profile is None and wanted.account is None):
            return claim
        profile = resolve(tx, wanted)
        if profile is None:
            return claim
        if isinstance(profile, NotReady):
            return profile
        holder = Holder(_name(owner), owner.incarnation, claim.job_id, claim.fence)
        fence = leases.take(
            tx,
            profile,
            holder,
            lease_seconds=self.queue.lease_seconds,
            exclusive=wanted.exclusive,
        )
        canary = claim.canary or profile.get("canary")
        return replace(claim, profile_id=profile["id"], lease_fence=fence, canary=canary)

    def _refused(
        self, owner: Owner, candidate: Candidate, wanted: Manifest, refusal: NotReady
    ) -> Claim | None:
        decision = refusals.decide(self.db, candidate, wanted, refusal)
        why = refusal.closed_key.reason
        if decision in ("wait", "reschedule"):
            refusals.keep(self.db, candidate, wanted, refusal, decision, _name(owner))
            self.closures.close(refusal.closed_key)
            return None
        refusals.record(self.db, candidate, refusal, decision, _name(owner), None)
        match decision:
            case "skip":
                return self._claim_unfit(owner, candidate, skipped=why)
            case "review":
                why = f"put up for review: {why}"
            case "timeout":
                why = f"waited {wanted.lock_timeout_seconds:g} s, its lock timeout: {why}"
        return self._claim_unfit(owner, candidate, problem=why, cause=Cause.CONTENTION)

    def _claim_unfit(
        self,
        owner: Owner,
        candidate: Candidate,
        *,
        problem: str | None = None,
        cause: Cause = Cause.CODE,
        skipped: str | None = None,
    ) -> Claim | None:
        """Claim a job that will be ended without a browser."""
        claim = self.queue.take(owner, candidate)
        if claim is None:
            return None
        return replace(claim, problem=problem, problem_cause=cause, skipped=skipped)

    def _reclaim(self, owner: Owner, candidate: Candidate) -> Claim | None:
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
        if lease is None:
            return claim
        return replace(claim, profile_id=lease["profile_id"], lease_fence=lease["fence"])


def _name(owner: Owner) -> str:
    return f"worker {owner.slot} (incarnation {owner.incarnation})"
