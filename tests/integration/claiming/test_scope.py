"""Jobs of other queues and of unknown tasks stay, and what is behind them is found all the same."""

from __future__ import annotations

import pytest

from tests.integration.claiming.rows import add_jobs, rows_read
from worker.claiming import held_back
from worker.claiming.candidates import Candidates
from worker.claiming.closed_keys import ClosedKeys
from worker.claiming.drain import Drain, outlook, unfinished
from worker.claiming.scope import Scope, of_run
from worker.claiming.why import sentence_about
from worker.guards import limits
from worker.models import Partition
from worker.queue import pause, runs
from worker.queue.claims import Queue
from worker.settings import RunSettings

OWN = Scope(("default",), frozenset({"visit"}))


@pytest.fixture
def looking(database):
    """What one worker would claim, job by job."""

    def looking(scope=OWN, slot=0, total=1, db=database):
        closures = ClosedKeys(db, scope)
        return Candidates(db, Partition(slot, total), closures=closures), closures

    return looking


def all_of(candidates):
    found = []
    while (candidate := candidates.next()) is not None:
        found.append(candidate.job_id)
    return found


def test_jobs_of_unknown_tasks_and_other_queues_are_passed_over(database, looking):
    add_jobs(database, range(1, 100), task="'price'")
    add_jobs(database, range(100, 200), queue="'slow'")
    add_jobs(database, [200, 201])

    candidates, closures = looking()

    assert all_of(candidates) == [200, 201]
    assert closures.has_strangers


def test_a_queue_without_strangers_is_searched_by_the_index_alone(database, looking):
    add_jobs(database, range(1, 50))

    candidates, closures = looking()

    assert all_of(candidates) == [*range(1, 50)]
    assert closures.conditions() == ((), {})


@pytest.mark.parametrize("strangers", ["task = 'price'", "queue = 'slow'"])
def test_strangers_are_walked_through_once(database, connect, looking, strangers):
    add_jobs(database, range(1, 2001))
    database.run_statement(f"UPDATE work_queue SET {strangers}")
    add_jobs(database, [3000])
    db = connect()
    candidates, _ = looking(db=db)
    assert candidates.next().job_id == 3000
    before = rows_read(db)

    add_jobs(database, [3001])
    assert candidates.next().job_id == 3001
    assert rows_read(db) - before < 200


def test_several_queues_are_worked_in_the_order_of_the_jobs(database, looking):
    add_jobs(database, [1, 4], queue="'a'")
    add_jobs(database, [2], queue="'b'")
    add_jobs(database, [3])

    assert all_of(looking(Scope(("a", "b")))[0]) == [1, 2, 4]


def test_a_run_that_takes_any_task_gets_unknown_ones(database, looking):
    add_jobs(database, [1], task="'price'")

    assert all_of(looking(Scope(("default",), None))[0]) == [1]


def test_a_worker_goes_home_from_what_is_not_its_runs(database, queue, claim_as, looking):
    queue.enqueue("visit", {}, queue="slow")
    queue.enqueue("price", {})
    queue.enqueue("visit", {}, queue="slow", delay_seconds=5)
    claim_as()  # Another run is at work on the first of them.
    candidates, closures = looking()
    drain = Drain(
        database, Partition(0, 1), closures, candidates, help_others=True, wait_seconds=900
    )

    assert not candidates.has_next()
    assert drain.is_over()
    assert not outlook(database, None, OWN).has_in_progress
    assert outlook(database).has_in_progress


def test_unknown_tasks_are_held_back_and_other_queues_are_not_counted(database, queue):
    queue.enqueue_many("price", [{}] * 3)
    queue.enqueue("price", {}, queue="slow")
    queue.enqueue("visit", {})

    (item,) = held_back.count(database, scope=OWN)
    assert (item.key, item.jobs) == ("task:price", 3)
    assert item.reason.startswith("no task named 'price' is loaded")
    assert unfinished(database, OWN)["pending"] == 4


@pytest.fixture
def at_work(database):
    """Record a run that is at work, with its queues and tasks."""

    def at_work(queue="default", tasks=("visit",)):
        import os

        settings = RunSettings(database=database.settings, workers=1, queue=queue)
        return runs.start_run(database, settings, os.getpid(), tasks)

    return at_work


def test_a_run_records_what_it_does(database, at_work):
    run_id = at_work("a,b", ["visit", "price"])

    assert of_run(database, run_id) == Scope(("a", "b"), frozenset({"visit", "price"}))


def test_why_names_what_no_run_at_work_has(database, queue, at_work):
    at_work()
    ready, unknown = queue.enqueue("visit", {}), queue.enqueue("price", {})
    other = queue.enqueue("visit", {}, queue="slow")

    told = [sentence_about(database, queue.get(job)) for job in (ready, unknown, other)]
    assert "is ready, and 0 ready jobs come before it" in told[0]
    assert "waits because no run at work has loaded a task named 'price'" in told[1]
    assert "waits because no run at work has the queue 'slow'" in told[2]


def test_what_no_run_takes_is_held_back_once_a_run_has_met_it(database, queue, at_work):
    run_id = at_work()
    queue.enqueue_many("price", [{}] * 2)
    assert held_back.count(database) == []

    runs.beat(database, run_id, '{"has_strangers": true}')
    assert [(item.key, item.jobs) for item in held_back.count(database)] == [("task:price", 2)]


def test_what_the_last_run_did_not_know_is_held_back_after_its_end_too(database, queue, at_work):
    run_id, unknown = at_work(), queue.enqueue("price", {})
    left = {"key": "task:price", "reason": "no task", "jobs": 1}
    runs.end_run(database, run_id, {"exit_code": 11, "held_back": [left]})
    ready = queue.enqueue("visit", {})

    told = [sentence_about(database, queue.get(job)) for job in (unknown, ready)]
    assert "waits because no run at work has loaded a task named 'price'" in told[0]
    assert "is ready, but nothing is running" in told[1]
    assert [(item.key, item.jobs) for item in held_back.count(database)] == [("task:price", 1)]


def test_a_paused_queue_is_left_alone_and_others_go_on(database, queue, looking):
    paused, going_on = queue.enqueue("visit", {}, queue="a"), queue.enqueue("visit", {}, queue="b")
    pause.pause(database, "it rains", "me", "a")

    assert all_of(looking(Scope(("a", "b")))[0]) == [going_on]
    assert "the queue a is paused by me (it rains)" in sentence_about(database, queue.get(paused))
    assert pause.holds(database, ("a",)) is not None
    assert pause.holds(database, ("a", "b")) is None
    assert pause.paused(database) is None

    assert pause.resume(database, "me", "a")
    assert all_of(looking(Scope(("a", "b")))[0]) == [paused, going_on]


def test_a_queue_has_a_limit_of_its_own(database, queue, claim_as, looking):
    queue.enqueue("visit", {}, queue="a")
    queue.enqueue("visit", {}, queue="a")
    other = queue.enqueue("visit", {})
    limits.set_limit(database, "queue:a", concurrent=1, per_minute=None, by="me")
    claim_as()

    assert all_of(looking(Scope())[0]) == [other]


def test_blanks_at_the_end_of_a_name_do_not_count(database, looking):
    # The server compares so, whatever wrote the row.
    add_jobs(database, [1], task="'visit '")
    add_jobs(database, [2], queue="'default  '")
    add_jobs(database, [3], task="' visit'")
    candidates, closures = looking()

    found = [candidates.next(), candidates.next()]

    assert [(job.job_id, job.task, job.queue) for job in found] == [
        (1, "visit", "default"),
        (2, "visit", "default"),
    ]
    assert all(closures.scope.takes(job) for job in found)
    assert candidates.next() is None
    (item,) = held_back.count(database, scope=OWN)
    assert (item.jobs, item.reason.partition(" is ")[0]) == (1, "no task named ' visit'")
    assert "is ready" in sentence_about(database, Queue(database).get(1))
