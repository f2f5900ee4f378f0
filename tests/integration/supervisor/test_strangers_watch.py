"""Jobs of others are found while no worker looks for jobs."""

from __future__ import annotations

import pytest

from worker.claiming.scope import Scope
from worker.supervisor.strangers_watch import StrangersWatch
from worker.system.board import Board

OWN = Scope(("default",), frozenset({"visit"}))


@pytest.fixture
def header():
    return Board(1).header


@pytest.mark.parametrize(("task", "queue_name"), [("price", "default"), ("visit", "slow")])
def test_a_job_of_another_queue_or_task_is_found_behind_many_own_ones(
    database, queue, header, task, queue_name
):
    watch = StrangersWatch(database, header, lambda: OWN)
    queue.enqueue_many("visit", [{}] * 50)
    watch.look()
    assert not header.has_strangers

    queue.enqueue(task, {}, queue=queue_name)
    watch.look()
    assert header.has_strangers


def test_a_look_that_takes_too_long_goes_on_the_next_time(database, queue, header, monkeypatch):
    monkeypatch.setattr(
        "worker.claiming.ready_jobs.ReadyJobs.end_of_stretch", lambda _, after, last: after + 1
    )
    queue.enqueue_many("visit", [{}] * 5)
    queue.enqueue("price", {})
    watch = StrangersWatch(database, header, lambda: OWN, look_seconds=0.0)

    looks = 0
    while not header.has_strangers and looks < 20:
        watch.look()
        looks += 1

    assert 5 < looks < 20


def test_a_run_that_takes_any_job_has_no_strangers(database, queue, header):
    queue.enqueue("price", {}, queue="slow")

    StrangersWatch(database, header, Scope).look()

    assert not header.has_strangers
