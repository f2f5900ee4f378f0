"""A finish and the next claim in one statement: neither makes up for the other."""

from __future__ import annotations

from functools import partial

import pytest

from worker.claiming.candidates import Candidates
from worker.models import Owner, Partition
from worker.recovery.sweep import sweep as patient_sweep

WORKER = Owner(0, 7)

sweep = partial(patient_sweep, server_grace_seconds=0)


@pytest.fixture
def candidate(database):
    """Read which job would be next, now."""
    return lambda: Candidates(database, Partition(0, 1)).next()


def test_both_are_done_at_once(queue, claim_as, candidate):
    first, second = queue.enqueue("visit", {}), queue.enqueue("visit", {})
    claim = claim_as(incarnation=7)

    settled, following = queue.finish_and_take(claim, '{"a": 1}', WORKER, candidate())

    assert settled
    assert (following.job_id, following.fence, following.attempt) == (second, 1, 1)
    assert queue.get(first)["status"] == "done"
    assert queue.get(second)["status"] == "in_progress"


def test_a_finish_stands_although_the_next_job_is_anothers(queue, claim_as, candidate):
    first, second = queue.enqueue("visit", {}), queue.enqueue("visit", {})
    claim, seen = claim_as(incarnation=7), candidate()
    assert claim_as(incarnation=8).job_id == second

    assert queue.finish_and_take(claim, "{}", WORKER, seen) == (True, None)

    assert queue.get(first)["status"] == "done"


def test_a_lost_claim_is_not_finished_by_what_is_claimed_with_it(
    database, queue, claim_as, expire, candidate
):
    first, second = queue.enqueue("visit", {}), queue.enqueue("visit", {})
    stale = claim_as(incarnation=7)
    expire(stale)
    sweep(database, queue)
    assert claim_as(incarnation=8).job_id == first

    settled, following = queue.finish_and_take(stale, "{}", WORKER, candidate())

    assert not settled
    assert following.job_id == second
    assert queue.get(first)["status"] == "in_progress"


def test_a_lost_claim_is_not_finished_by_seeing_its_own_job_again(
    database, queue, claim_as, expire, candidate
):
    job = queue.enqueue("visit", {})
    stale = claim_as(incarnation=7)
    expire(stale)
    sweep(database, queue)
    again = candidate()
    assert again.job_id == job

    assert queue.finish_and_take(stale, '{"late": true}', WORKER, again) == (False, None)

    row = queue.get(job)
    assert (row["status"], row["fence"], row["result"]) == ("pending", 1, None)
