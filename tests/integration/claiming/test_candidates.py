"""Which job comes next: partition, helping, priority, time, order, and what looking costs.

Shows invariant 13: however many jobs wait, no look reads all of them again.
"""

from __future__ import annotations

import itertools
import time

import pytest

from tests.conftest import because
from tests.integration.claiming.rows import add_jobs, questions, rows_read
from worker.claiming import candidates as candidates_module
from worker.claiming.batch_size import MAX_ROWS
from worker.claiming.candidates import Candidates
from worker.models import Owner, Partition

BACKLOG = 20_000
WHY = because("the run was stopped")
_incarnations = itertools.count(1)


@pytest.fixture
def consumer(database, queue):
    """A worker of a slot that remembers where it was: each call claims one job, for its id."""

    def consumer(slot=0, total=1, *, help_others=True):
        candidates = Candidates(database, Partition(slot, total), help_others=help_others)

        def claim_next():
            claim = queue.claim(Owner(slot, next(_incarnations)), candidates)
            return claim and claim.job_id

        return claim_next

    return consumer


def drain(claim_next):
    return list(iter(claim_next, None))


def test_a_slot_takes_its_own_partition_first_and_in_order(database, consumer):
    add_jobs(database, range(1, 25))
    order = drain(consumer(1, 3))
    assert order[:8] == list(range(1, 25, 3))
    assert sorted(order) == list(range(1, 25))


def test_slices_of_several_hosts_share_out_the_ids(database, consumer):
    add_jobs(database, range(1, 37))
    shares = [drain(consumer(slot, 18, help_others=False)) for slot in range(18)]
    assert shares == [[slot or 18, (slot or 18) + 18] for slot in range(18)]


def test_a_slot_told_not_to_help_never_takes_anothers_job(database, consumer):
    add_jobs(database, range(1, 25), priority=-5)
    add_jobs(database, range(25, 30))
    alone = consumer(2, 3, help_others=False)
    assert drain(alone) == [*range(2, 25, 3), 26, 29]
    assert alone() is None
    assert len(drain(consumer(0, 3))) == 29 - 10


def test_a_slot_whose_partition_is_empty_helps_the_others(database, consumer):
    add_jobs(database, range(3, 100, 3))
    assert sorted(drain(consumer(1, 3))) == list(range(3, 100, 3))


def test_helpers_share_out_among_themselves_what_they_help_with(database, consumer):
    add_jobs(database, range(3, 601, 3))
    first, second = consumer(1, 3), consumer(2, 3)
    turns = [(first(), second()) for _ in range(60)]
    assert {job_id // 3 % 3 for job_id, _ in turns} == {1}
    assert {job_id // 3 % 3 for _, job_id in turns} == {2}


def test_one_worker_alone_takes_everything_in_order(database, consumer):
    add_jobs(database, range(1, 200, 7))
    assert drain(consumer()) == list(range(1, 200, 7))


def test_the_lower_priority_number_comes_first(database, consumer):
    levels = {5: range(1, 20), -(2**31): range(20, 40), 0: range(40, 60), 2**31 - 1: range(60, 70)}
    for priority, ids in levels.items():
        add_jobs(database, ids, priority=priority)
    assert drain(consumer()) == [job_id for level in sorted(levels) for job_id in levels[level]]


def test_an_urgent_job_overtakes_the_batch_in_hand_within_about_a_second(
    database, queue, consumer, monkeypatch
):
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    add_jobs(database, range(1, 500))
    claim_next = consumer()
    # Batches double, 8, 16, 32: so the next one is of full length, and hardly begun.
    assert [claim_next() for _ in range(57)] == list(range(1, 58))
    urgent = queue.enqueue("visit", {}, priority=-1)
    assert claim_next() == 58

    now[0] += 1.1

    assert claim_next() == urgent


def test_a_job_is_not_claimed_before_its_time_and_is_promoted_when_it_comes(
    database, queue, consumer
):
    # The session's own clock, which stands still: time passes when the test says so.
    database.run_statement("SET timestamp = 1000000000")
    later, soon = (queue.enqueue("visit", {}, delay_seconds=seconds) for seconds in (3600, 0.3))
    claim_next = consumer()
    database.run_statement("SET timestamp = 1000000000.29")
    assert (claim_next(), queue.promote()) == (None, 0)

    database.run_statement("SET timestamp = 1000000000.31")
    assert queue.promote() == 1

    assert (claim_next(), claim_next()) == (soon, None)
    assert queue.get(later)["status"] == "pending"


def test_a_job_given_a_time_after_it_was_seen_is_passed_over(database, queue):
    add_jobs(database, [1, 2])
    candidates = Candidates(database, Partition(0, 1))
    assert candidates.has_next()
    database.run_statement("UPDATE work_queue SET not_before = '2999-01-01' WHERE id = 1")
    assert queue.claim(Owner(0, 1), candidates).job_id == 2


def test_a_job_that_came_back_is_found_before_newer_ones(database, queue, claim_as, monkeypatch):
    # A batch that went stale would be read again, and not be used up when it should.
    monkeypatch.setattr(time, "monotonic", lambda: 1000.0)
    add_jobs(database, range(1, 100))
    candidates = Candidates(database, Partition(0, 1))
    claims = [queue.claim(Owner(0, number), candidates) for number in range(1, 9)]
    queue.hand_back(claims[2], WHY)
    assert queue.claim(Owner(0, 9), candidates).job_id == claims[2].job_id
    assert queue.claim(Owner(0, 10), candidates).job_id == 9


def test_a_slow_consumer_skips_nothing_of_a_batch_that_went_stale(database, consumer, monkeypatch):
    # Every look finds its batch too old, as that of a worker with long jobs always is.
    monkeypatch.setattr(candidates_module, "MAX_AGE_SECONDS", -1.0)
    add_jobs(database, range(1, 60))
    claim_next = consumer(1, 2, help_others=False)
    assert drain(claim_next) == list(range(1, 60, 2))


def look_through(database, connect, partition, jobs):
    """Take that many jobs from the candidates of a connection of its own; return rows read."""
    db = connect()
    candidates = Candidates(db, partition)
    before = rows_read(db)
    for _ in range(jobs):
        job_id = candidates.next().job_id
        database.run_statement(
            "UPDATE work_queue SET status = 'done' WHERE id = %(id)s", {"id": job_id}
        )
    return rows_read(db) - before


def test_a_backlog_of_another_slot_is_not_read_again_at_every_look(database, connect):
    add_jobs(database, range(2, 2 * BACKLOG + 1, 2))
    own = range(2 * BACKLOG + 1, 2 * BACKLOG + 4001, 2)
    add_jobs(database, own)
    looks = len(own) // MAX_ROWS

    read = look_through(database, connect, Partition(1, 2), len(own))

    assert read < looks * BACKLOG / 2


def test_a_helper_does_not_search_all_the_backlog_for_jobs_of_its_own_at_every_look(
    database, connect
):
    add_jobs(database, range(2, 2 * BACKLOG + 1, 2))
    jobs = 2000

    read = look_through(database, connect, Partition(1, 2), jobs)

    assert read < jobs // MAX_ROWS * BACKLOG / 2


def test_priorities_as_many_as_jobs_do_not_make_a_helper_ask_for_each(database, consumer):
    jobs = ", ".join(f"({2 * number}, '{{}}', {number})" for number in range(1, 1001))
    database.run_statement(f"INSERT INTO work_queue (id, payload, priority) VALUES {jobs}")
    helper = consumer(1, 2)
    before = questions(database)
    assert helper() == 2
    assert questions(database) - before < 100


def test_ids_below_one_are_ids_like_others(database, consumer):
    database.run_statement("SET sql_mode = CONCAT(@@sql_mode, ',NO_AUTO_VALUE_ON_ZERO')")
    add_jobs(database, [-7, -5, 0, 3])
    shares = [drain(consumer(slot, 3, help_others=False)) for slot in range(3)]
    assert shares == [[0, 3], [-5], [-7]]
    database.run_statement("UPDATE work_queue SET status = 'pending', lease_until = NULL")
    assert drain(consumer()) == [-7, -5, 0, 3]


def test_what_stands_for_a_host_in_a_plain_insert_and_cannot_be_one_is_no_site(queue, claim_as):
    """A site is named in commands that people copy, and closes for jobs of the same host alone."""
    for url in ("http://x;id;/p", "http://$(id)/p1", "http://shop.test/p"):
        queue.enqueue("visit", {"url": url})

    keys = [claim_as().breaker_keys for _ in range(3)]

    assert keys == [(), (), ("site:shop.test",)]
