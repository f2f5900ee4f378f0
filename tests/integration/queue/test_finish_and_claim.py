"""The end of a job and the next claim at once: neither makes up for the other."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from worker.claiming.candidates import Candidates
from worker.models import Cause, Ending, Outcome, Owner, Partition
from worker.recovery.sweep import sweep as patient_sweep

WORKER = Owner(0, 7)

BUG = Ending(Outcome.ERROR, "KeyError: price", Cause.CODE, fingerprint="f" * 16, label="a bug")
LATER = Ending(Outcome.RETRY, "not yet", delay_seconds=60)

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


def test_a_failure_and_the_next_claim_are_written_at_once(database, queue, claim_as, candidate):
    first, second = queue.enqueue("visit", {}), queue.enqueue("visit", {})
    claim = claim_as(incarnation=7)

    settled, following = queue.settle_and_take(claim, BUG, WORKER, candidate())

    assert settled
    assert following == claim_as_read(queue, second)
    assert queue.get(first)["status"] == "error"
    (attempt,) = queue.history(first)
    assert (attempt["outcome"], attempt["fingerprint"]) == ("error", BUG.fingerprint)
    assert failures(database) == {BUG.fingerprint: 1}


def test_a_job_goes_back_although_the_next_one_is_anothers(queue, claim_as, candidate):
    first, second = queue.enqueue("visit", {}), queue.enqueue("visit", {})
    claim, seen = claim_as(incarnation=7), candidate()
    assert claim_as(incarnation=8).job_id == second

    assert queue.settle_and_take(claim, LATER, WORKER, seen) == (True, None)

    row = queue.get(first)
    assert (row["status"], row["wait_reason"], row["attempts"]) == ("pending", "not yet", 1)
    assert row["not_before"] is not None
    assert queue.get(second)["incarnation"] == 8


def test_a_lost_claim_fails_nothing_and_is_counted_in_no_group(
    database, queue, claim_as, expire, candidate
):
    first, second = queue.enqueue("visit", {}), queue.enqueue("visit", {})
    stale = claim_as(incarnation=7)
    expire(stale)
    sweep(database, queue)
    assert claim_as(incarnation=8).job_id == first
    groups = failures(database)

    settled, following = queue.settle_and_take(stale, BUG, WORKER, candidate())

    assert not settled
    assert following.job_id == second
    assert queue.get(first)["status"] == "in_progress"
    assert [row["outcome"] for row in queue.history(first)] == ["swept"]
    assert failures(database) == groups


def test_a_lost_claim_does_not_settle_its_own_job_by_seeing_it_again(
    database, queue, claim_as, expire, candidate
):
    job = queue.enqueue("visit", {})
    stale = claim_as(incarnation=7)
    expire(stale)
    sweep(database, queue)
    again = candidate()
    assert again.job_id == job

    settled, following = queue.settle_and_take(stale, BUG, WORKER, again)

    assert not settled
    row = queue.get(job)
    assert (row["status"], row["fence"], following.fence) == ("in_progress", 2, 2)


def claim_as_read(queue, job):
    row = queue.get(job)
    assert (row["status"], row["fence"], row["incarnation"]) == ("in_progress", 1, 7)
    return replace(queue.claim_in(row), payload=row["payload"], has_listener=False)


def failures(database):
    rows = database.run_statement("SELECT fingerprint, failures FROM failure_groups")
    return {row["fingerprint"]: int(row["failures"]) for row in rows}
