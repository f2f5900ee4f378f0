"""A worker that has ended a job of an order goes on with the next one, in its place."""

from __future__ import annotations

from contextlib import closing

import pytest

from tests.integration.claiming.rows import add_jobs, questions, rows_read
from tests.integration.gate_worker import Worker


@pytest.fixture
def worker(database):
    with closing(Worker(database.settings)) as worker:
        yield worker


def do(worker, claim):
    worker.queue.complete(claim, {})
    worker.candidates.follow_ups.note(claim)


def test_an_order_is_gone_through_without_looking_for_its_jobs(database, worker):
    add_jobs(database, range(1, 3_001), order_key="'k'")

    done = []
    do(worker, worker.claim())
    before = rows_read(worker.db)
    for _ in range(20):
        claim = worker.claim()
        assert claim is not None
        done.append(claim.job_id)
        do(worker, claim)

    assert done == list(range(2, 22))
    # A look back over all of them for each job would be twice as many at least.
    assert rows_read(worker.db) - before < 30_000


def test_a_more_urgent_job_comes_before_the_next_of_an_order(database, worker):
    add_jobs(database, (1, 2), order_key="'k'", priority=5)
    do(worker, worker.claim())
    add_jobs(database, (3, 4), priority=1)
    worker.look_again()

    assert [worker.claim().job_id for _ in range(3)] == [3, 4, 2]


def test_an_ordinary_job_asks_for_no_follow_up(database, worker):
    add_jobs(database, range(1, 20))
    do(worker, worker.claim())
    before = questions(worker.db)

    assert not worker.candidates.follow_ups.has_next()
    assert questions(worker.db) == before + 1
