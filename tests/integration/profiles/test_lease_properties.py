"""Whatever workers, people and sweeps do to profiles, in whatever order: a model of the leases.

Holds invariant 10 of the design on a real server: never more holders than allowed, fences that only
grow, and no way from a hold that ended unexplained to available but through somebody who looked.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    initialize,
    rule,
    run_state_machine_as_test,
)

from tests.integration.profiles.lease_model import ACCOUNT, SLOTS, LeaseWorld, ModelLease
from tests.integration.standing_clock import MOMENTS, Clock
from worker.database.client import Database
from worker.errors import ClaimLost, ProviderError, UsageError
from worker.models import Claim, Ending, Outcome
from worker.profiles import caretaker, lease_endings, leases, store
from worker.profiles.states import TRANSITIONS, State
from worker.recovery.deaths import settle_claims
from worker.recovery.sweep import sweep_leases

slots = st.integers(0, SLOTS - 1)
# The shared one more often, so that it has several holders.
names = st.sampled_from(["p0", "p1", "p1", "p2"])
steps = st.sampled_from(
    [("logged in", "https://shop.example/"), ("logged in", "about:blank"), ("submitting", "x")]
)
by_hand = st.sampled_from(
    [State.AVAILABLE, State.AVAILABLE, State.REVIEW_REQUIRED, State.QUARANTINED, State.DISABLED]
)


class LeaseMachine(LeaseWorld):
    """Random lives of profiles, checked against a model after every step."""

    @initialize()
    def begin_with_two_jobs(self) -> None:
        self._enqueue("p0", None, exclusive=False)
        self._enqueue("p0", None, exclusive=False)

    @rule(profile=st.one_of(st.none(), names), exclusive=st.booleans(), count=st.integers(1, 2))
    def enqueue(self, profile: str | None, exclusive: bool, count: int) -> None:
        if len(self._pending()) < 6:
            for _ in range(count):
                self._enqueue(profile, None if profile else ACCOUNT, exclusive=exclusive)

    @rule()
    def enqueue_ordinary(self) -> None:
        if len(self._pending()) < 6:
            self._enqueue(None, None, exclusive=False)

    @rule(slots=st.permutations(range(SLOTS)), name=names, exclusive=st.sampled_from([0, 0, 0, 1]))
    def rush(self, slots: list[int], name: str, exclusive: int) -> None:
        """Two workers want the same profile, one after the other."""
        for slot in slots[:2]:
            if slot not in self.claims and len(self._pending()) < 6:
                self._enqueue(name, None, exclusive=bool(exclusive))
                self._claim(slot, looks=True)

    @rule(slot=slots, looks=st.booleans())
    def claim(self, slot: int, looks: bool) -> None:
        """A worker claims, after a fresh look or by what it believed a while ago."""
        self._claim(slot, looks=looks)

    def _claim(self, slot: int, *, looks: bool) -> None:
        if slot in self.claims:
            return
        worker, certain = self.workers[slot], self._certain()
        claim = worker.claim_now() if looks else worker.claim()
        if claim is None:
            assert not (looks and certain), f"{certain} could have been claimed"
            return
        self.claims[slot] = claim
        if claim.profile_id is None:
            assert claim.lease_fence is None
            return
        profile, payload = self.model[claim.profile_id], worker.queue.get(claim.job_id)["payload"]
        exclusive = '"exclusive": true' in payload
        assert isinstance(claim, Claim)
        assert profile.state in (State.AVAILABLE, State.LEASED)
        assert not (self.is_paused and profile.account)
        assert profile.has_room(exclusive=exclusive)
        incarnation = worker.owner.incarnation
        assert claim.lease_fence == profile.take(ModelLease(incarnation, exclusive))

    @rule(seconds=st.sampled_from(MOMENTS))
    def a_moment_passes(self, seconds: float) -> None:
        """What workers have read is older now."""
        self.clock.now += seconds

    @rule(slot=slots, step=steps)
    def reach_step(self, slot: int, step: tuple[str, str]) -> None:
        claim = self.claims.get(slot)
        if claim is None or claim.profile_id is None:
            return
        leases.note_step(self.db, claim.profile_id, claim.lease_fence, *step)
        lease = self.model[claim.profile_id].leases.get(claim.lease_fence)
        if lease is not None:
            lease.step = step

    @rule(slot=slots, review=st.sampled_from([None, None, "a prompt"]))
    def finish(self, slot: int, review: str | None) -> None:
        claim = self.claims.pop(slot, None)
        if claim is None:
            return
        with suppress(ClaimLost):
            self.workers[slot].queue.complete(claim, {})
        if claim.profile_id is None:
            return
        name, fence = claim.profile_id, claim.lease_fence
        self.past.append((name, fence))
        if fence not in self.model[name].leases:
            self._expect_refusal(name, fence)
            return
        lease_endings.release(self.db, name, fence, author="worker", reason="done", review=review)
        self.model[name].release(fence, review=review is not None)

    @rule()
    def write_late(self) -> None:
        """Holders that were taken for dead come back, and write under their old fences."""
        for name, fence in self.past[-4:]:
            if fence in self.model[name].leases:
                continue
            self._expect_refusal(name, fence)
            leases.note_step(self.db, name, fence, "too late", "x")
            leases.want_review(self.db, name, fence, "too late")
            assert not lease_endings.end_unexplained(
                self.db, name, fence, author="late", reason="late"
            )

    @rule(slot=slots, is_seen=st.booleans())
    def die(self, slot: int, is_seen: bool) -> None:
        """A worker's process ends; its launcher sees it, or is gone as well."""
        worker = self.workers[slot]
        incarnation = worker.owner.incarnation
        claim = self.claims.pop(slot, None)
        if claim is not None and claim.profile_id is not None:
            self.past.append((claim.profile_id, claim.lease_fence))
        self._new_incarnation(slot)
        if not is_seen:
            return
        began = (claim.job_id, claim.fence) if claim is not None else (0, 0)
        ending = Ending(Outcome.CRASHED, "killed")
        settle_claims(self.db, worker.queue, incarnation, ending, began=began)
        lease_endings.end_of_the_dead(self.db, incarnation, "killed")
        for profile in self.model.values():
            for fence, lease in list(profile.leases.items()):
                if lease.incarnation == incarnation:
                    profile.end_unexplained(fence)

    @rule(
        slots=st.permutations(range(SLOTS)),
        reached=st.tuples(st.one_of(st.none(), steps), st.one_of(st.none(), steps)),
        is_checked=st.booleans(),
    )
    def die_one_after_the_other(
        self, slots: list[int], reached: tuple[Any, Any], is_checked: bool
    ) -> None:
        """Two who share a profile die, and somebody may check it between the two deaths."""
        self.rush(slots, "p1", 0)
        for slot, step in zip(slots, reached, strict=False):
            if step is not None:
                self.reach_step(slot, step)
        for slot in slots[:2]:
            self.die(slot, True)
            if is_checked:
                self.check_stale(True)

    @rule(name=names)
    def outlive_leases(self, name: str) -> None:
        self.db.run_statement(
            "UPDATE profile_leases SET expires_at = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND "
            "WHERE profile_id = %(name)s",
            {"name": name},
        )
        for lease in self.model[name].leases.values():
            lease.is_expired = True

    @rule()
    def sweep(self) -> None:
        swept = sorted(name for name, _ in sweep_leases(self.db))
        expired = [
            (name, fence)
            for name, profile in self.model.items()
            for fence, lease in profile.leases.items()
            # A person's stays theirs.
            if lease.is_expired and lease.incarnation is not None
        ]
        assert swept == sorted(name for name, _ in expired)
        for name, fence in sorted(expired):
            self.model[name].end_unexplained(fence)

    @rule(slot=slots)
    def renew(self, slot: int) -> None:
        incarnation = self.workers[slot].owner.incarnation
        held = [
            lease
            for profile in self.model.values()
            for lease in profile.leases.values()
            if lease.incarnation == incarnation
        ]
        assert leases.renew(self.db, [incarnation], 60.0) == len(held)
        for lease in held:
            lease.is_expired = False

    @rule(name=names, state=by_hand)
    def set_by_hand(self, name: str, state: State) -> None:
        profile = self.model[name]
        if state is not profile.state and state not in TRANSITIONS[profile.state]:
            with pytest.raises(UsageError):
                store.set_state(self.db, name, state, reason="strange", by="me")
            return
        store.set_state(self.db, name, state, reason="strange", by="me")
        is_held = state is State.AVAILABLE and profile.leases
        profile.state = State.LEASED if is_held else state

    @rule(pause=st.sampled_from([True, False, False]))
    def pause_or_resume(self, pause: bool) -> None:
        if pause:
            store.pause_account(self.db, ACCOUNT, reason="captcha", by="me")
        else:
            assert store.resume_account(self.db, ACCOUNT, by="me") == self.is_paused
        self.is_paused = pause

    @rule(name=names)
    def check_out(self, name: str) -> None:
        profile = self.model[name]
        # A person may also look at what is set aside, stale or of a paused account.
        if profile.state is State.DISABLED or not profile.has_room(exclusive=True):
            with pytest.raises(UsageError):
                store.check_out(self.db, name, person="ada", seconds=600, reason="")
            return
        fence = store.check_out(self.db, name, person="ada", seconds=600, reason="")
        assert fence == profile.take(ModelLease(None, is_exclusive=True))
        self.past.append((name, fence))

    @rule(name=names)
    def give_back(self, name: str) -> None:
        profile = self.model[name]
        own = [fence for fence, lease in profile.leases.items() if lease.incarnation is None]
        if not own:
            with pytest.raises(UsageError):
                store.give_back(self.db, name, by="ada")
            return
        store.give_back(self.db, name, by="ada")
        profile.release(own[0])

    @rule(works=st.booleans())
    def check_stale(self, works: bool) -> None:
        def stop(spec: Any) -> None:
            assert not self.model[spec.profile_id].leases, "a browser in good use was stopped"
            if not works:
                raise ProviderError("deaf", provider="local", kind="refused")

        # Long enough after the last try.
        self.db.run_statement("UPDATE profiles SET next_stop_at = NULL")
        caretaker.check_stale(self.db, stop, "worker")
        for profile in self.model.values():
            if works and profile.state is State.STALE and not profile.leases:
                profile.state = State.AVAILABLE


@pytest.mark.timeout(300)
def test_no_order_of_events_breaks_a_lease(database: Database, clock: Clock) -> None:
    run_state_machine_as_test(
        lambda: LeaseMachine(database, clock),
        settings=settings(
            max_examples=120,
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
