"""One row that somebody holds keeps nobody else's job from being claimed, finished or renewed."""

from __future__ import annotations

from tests.conftest import QueueForTests, hold
from worker.claiming.candidates import Candidates
from worker.models import Owner, Partition
from worker.recovery import sweep as sweeping

OWNER = Owner(0, 7)


def test_a_job_whose_row_is_held_is_passed_over(impatient, queue, holding):
    held, free = queue.enqueue("visit", {}), queue.enqueue("visit", {})
    holding(held)

    claim = QueueForTests(impatient).claim(OWNER, Candidates(impatient, Partition(0, 1)))

    assert claim.job_id == free


def test_leases_are_renewed_around_a_row_that_is_held(impatient, queue, claim_as, expire, holding):
    queue.enqueue_many("visit", [{}] * 3)
    claims = [claim_as(slot) for slot in range(3)]
    for claim in claims:
        expire(claim)
    holding(claims[1].job_id)

    assert QueueForTests(impatient).renew([hold(claim) for claim in claims]) == 2


def test_waiting_jobs_come_due_around_a_row_that_is_held(impatient, queue, holding):
    jobs = [queue.enqueue("visit", {}, delay_seconds=0) for _ in range(3)]
    holding(jobs[1])

    assert QueueForTests(impatient).promote() == 2


def test_a_sweep_goes_round_a_row_that_is_held(impatient, queue, claim_as, expire, holding):
    queue.enqueue_many("visit", [{}] * 3)
    claims = [claim_as(slot) for slot in range(3)]
    for claim in claims:
        expire(claim)
    holding(claims[1].job_id)

    swept = sweeping.sweep(impatient, QueueForTests(impatient), server_grace_seconds=0)

    assert [item.job_id for item in swept] == [claims[0].job_id, claims[2].job_id]
