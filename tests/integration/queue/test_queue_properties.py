"""Whatever several workers do, in whatever order, with crashes and sweeps at any point: a model.

Holds invariants 1 to 5 and 9 of the design on a real server, over orders nobody thought of.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    initialize,
    rule,
    run_state_machine_as_test,
)

from tests.conftest import because, hold
from tests.integration.queue.queue_model import SLOTS, ModelJob, QueueWorld
from tests.integration.standing_clock import MOMENTS, Clock
from worker.claiming.candidates import Candidates
from worker.database.client import Database
from worker.drill import finish_ledger
from worker.errors import ClaimLost
from worker.models import Ending, Outcome, Owner, Partition
from worker.queue.settlements import MAX_BLOCKS, MAX_CRASHES
from worker.recovery.deaths import settle_claims
from worker.recovery.sweep import sweep

WHY = because("because")
FAILED = Ending(Outcome.ERROR, "because")

slots = st.integers(0, SLOTS - 1)
deaths = st.sampled_from(["crashed", "handed_back"])


class QueueMachine(QueueWorld):
    """Random lives of jobs, checked against a model after every step."""

    @initialize()
    def begin_with_two_jobs(self) -> None:
        self._enqueue(None)
        self._enqueue(2)

    @rule(max_attempts=st.one_of(st.none(), st.integers(1, 4)))
    def enqueue(self, max_attempts: int | None) -> None:
        # Few jobs, so that workers get into each other's way.
        if sum(job.status in ("pending", "in_progress") for job in self.model.values()) < 4:
            self._enqueue(max_attempts)

    @rule(slot=slots)
    def look(self, slot: int) -> None:
        """A worker reads candidates now and claims later, when they may be others' already."""
        self.workers[slot].candidates.has_next()

    @rule(slot=slots, has_looked=st.booleans())
    def claim(self, slot: int, has_looked: bool) -> None:
        worker = self.workers[slot]
        if worker.claim is not None:
            return
        ready = self._ready()
        fresh = Candidates(self.db, Partition(slot, SLOTS))
        candidates = worker.candidates if has_looked else fresh
        claim = self.queue.claim(Owner(slot, worker.incarnation), candidates)
        if claim is None:
            assert has_looked or not ready
            return
        own = {i for i in ready if i % SLOTS == slot}
        assert claim.job_id in (ready if has_looked or not own else own)
        self._take(worker, claim)

    @rule(slot=slots)
    def complete(self, slot: int) -> None:
        def then(job: ModelJob) -> None:
            job.status = "done"
            job.finishes += 1

        self._settle(slot, lambda claim: self.queue.complete(claim, {"ok": True}), then)

    @rule(slot=slots)
    def finish_and_take(self, slot: int) -> None:
        """A worker finishes its job and takes the next in the same transaction."""
        worker = self.workers[slot]
        candidate = worker.candidates.at_hand()
        if worker.claim is None or candidate is None:
            return
        claim, held = worker.claim, self._holds(worker.claim)
        owner = Owner(slot, worker.incarnation)
        settled, following = self.queue.finish_and_take(claim, "{}", owner, candidate)
        assert settled == held
        worker.claim = None
        worker.lost.append(claim)
        if held:
            job = self.model[claim.job_id]
            job.status, job.is_expired = "done", False
            job.finishes += 1
        if following is not None:
            self._take(worker, following)

    @rule(slot=slots)
    def fail_and_take(self, slot: int) -> None:
        """A worker gives its job up and takes the next in the same transaction."""
        worker = self.workers[slot]
        candidate = worker.candidates.at_hand()
        if worker.claim is None or candidate is None:
            return
        claim, held = worker.claim, self._holds(worker.claim)
        owner = Owner(slot, worker.incarnation)
        settled, following = self.queue.settle_and_take(claim, FAILED, owner, candidate)
        assert settled == held
        worker.claim = None
        worker.lost.append(claim)
        if held:
            job = self.model[claim.job_id]
            job.status, job.is_expired = "error", False
        if following is not None:
            self._take(worker, following)

    @rule(slot=slots, waits=st.booleans())
    def retry(self, slot: int, waits: bool) -> None:
        def then(job: ModelJob) -> None:
            self._back_or_error(job, is_waiting=waits)

        delay = 3600.0 if waits else None
        self._settle(slot, lambda claim: self.queue.retry(claim, WHY, delay_seconds=delay), then)

    @rule(slot=slots)
    def fail(self, slot: int) -> None:
        def then(job: ModelJob) -> None:
            job.status = "error"

        self._settle(slot, lambda claim: self.queue.fail(claim, WHY), then)

    @rule(slot=slots)
    def hand_back(self, slot: int) -> None:
        def then(job: ModelJob) -> None:
            job.status = "pending"
            job.attempts -= 1

        self._settle(slot, lambda claim: self.queue.hand_back(claim, WHY), then)

    @rule(slot=slots)
    def renew(self, slot: int) -> None:
        worker = self.workers[slot]
        for claim in [*worker.lost, *([worker.claim] if worker.claim else [])]:
            holds = self._holds(claim)
            assert self.queue.renew([hold(claim)]) == int(holds)
            if holds:
                self.model[claim.job_id].is_expired = False

    @rule(slot=slots, seen=st.booleans(), outcome=deaths)
    def die(self, slot: int, seen: bool, outcome: str) -> None:
        """A worker's process ends; its launcher sees it, or is gone as well."""
        worker = self.workers[slot]
        self.workers[slot] = self._new_worker(slot)
        if not seen:
            return
        held = worker.claim
        settle_claims(
            self.db,
            self.queue,
            worker.incarnation,
            Ending(Outcome(outcome), "killed by SIGKILL"),
            began=(held.job_id, held.fence) if held is not None else (0, 0),
        )
        if worker.claim is None or not self._holds(worker.claim):
            return
        job = self.model[worker.claim.job_id]
        job.is_expired = False
        if outcome == "handed_back":
            job.status, job.attempts = "pending", job.attempts - 1
            return
        job.crashes += 1
        job.status = "error" if job.crashes >= min(MAX_CRASHES, job.max_attempts) else "pending"

    @rule(slot=slots)
    def block(self, slot: int) -> None:
        def then(job: ModelJob) -> None:
            job.blocks += 1
            job.status = "error" if job.blocks >= min(MAX_BLOCKS, job.max_attempts) else "pending"

        self._settle(slot, lambda claim: self.queue.block(claim, WHY, None), then)

    @rule(slot=slots)
    def come_back_from_the_dead(self, slot: int) -> None:
        """A worker that was taken for dead tries to finish what it believes to hold."""
        for claim in self.workers[slot].lost:
            if not self._holds(claim):
                with pytest.raises(ClaimLost):
                    self.queue.retry(claim, WHY, delay_seconds=None, outcome=Outcome.TIMED_OUT)

    @rule(slot=slots)
    def outlive_lease(self, slot: int) -> None:
        claim = self.workers[slot].claim
        if claim is not None and self._holds(claim):
            self.model[claim.job_id].is_expired = True
            self._expire("id = %(id)s", {"id": claim.job_id})

    @rule()
    def outlive_all_leases(self) -> None:
        """Also of jobs whose worker died unseen."""
        for job in self.model.values():
            job.is_expired = job.status == "in_progress"
        self._expire("status = 'in_progress'")

    @rule()
    def sweep(self) -> None:
        expired = {i for i, job in self.model.items() if job.is_expired}
        swept = {item.job_id for item in sweep(self.db, self.queue, server_grace_seconds=0)}
        assert swept == expired
        for job_id in expired:
            self._back_or_error(self.model[job_id])

    @rule(slot=slots)
    def lose_the_claim_and_look(self, slot: int) -> None:
        """A worker that was swept finds its own job among those that are ready."""
        self.outlive_lease(slot)
        self.sweep()
        self.a_moment_passes(MOMENTS[-1])
        self.look(slot)

    @rule(seconds=st.sampled_from(MOMENTS))
    def a_moment_passes(self, seconds: float) -> None:
        """What workers have read is older now."""
        self.clock.now += seconds

    @rule()
    def time_comes(self) -> None:
        """Every waiting time is over."""
        self.db.run_statement(
            "UPDATE work_queue SET not_before = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND "
            "WHERE status = 'pending' AND not_before IS NOT NULL"
        )
        waiting = [job for job in self.model.values() if job.is_waiting]
        assert self.queue.promote() == len(waiting)
        for job in waiting:
            job.is_waiting = False


@pytest.mark.timeout(300)
def test_no_order_of_events_breaks_the_invariants(database: Database, clock: Clock) -> None:
    finish_ledger.install(database)
    run_state_machine_as_test(
        lambda: QueueMachine(database, clock),
        settings=settings(
            max_examples=300,
            stateful_step_count=50,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
