"""One row that somebody holds keeps nobody else's job from being claimed, finished or renewed."""

from __future__ import annotations

from contextlib import closing

import pytest

from tests.conftest import QueueForTests, hold
from worker.claiming.candidates import Candidates
from worker.database.client import Database
from worker.models import Ending, Outcome, Owner, Partition, Status
from worker.queue.outcome_writer import OutcomeWriter
from worker.recovery import sweep as sweeping

OWNER = Owner(0, 7)


@pytest.fixture
def impatient(settings):
    """A connection that waits for a row no longer than a second at a time."""
    with closing(Database(settings, lock_wait_seconds=1)) as db:
        yield db


@pytest.fixture
def holding(settings):
    """Hold the row of a job in a transaction of somebody else's, until the test ends."""
    with closing(Database(settings)) as other:

        def hold_row(job_id: int) -> None:
            other.run_statement("BEGIN")
            other.run_statement(f"SELECT id FROM work_queue WHERE id = {job_id} FOR UPDATE")

        yield hold_row


def test_a_job_whose_row_is_held_is_passed_over(impatient, queue, holding):
    held, free = queue.enqueue("visit", {}), queue.enqueue("visit", {})
    holding(held)

    claim = QueueForTests(impatient).claim(OWNER, Candidates(impatient, Partition(0, 1)))

    assert claim.job_id == free


def test_a_finish_does_not_wait_for_the_row_of_the_next_job(
    impatient, queue, claim_as, holding, tmp_path
):
    first, second = queue.enqueue("visit", {}), queue.enqueue("visit", {})
    claim = claim_as(incarnation=7)
    candidate = Candidates(impatient, Partition(0, 1)).next()
    assert (claim.job_id, candidate.job_id) == (first, second)
    holding(second)

    writer = OutcomeWriter(impatient, QueueForTests(impatient), tmp_path, OWNER)
    written = writer.write(claim, Ending(Outcome.DONE, result="1"), candidate)

    assert (written.settlement.status, written.following) == (Status.DONE, None)


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
