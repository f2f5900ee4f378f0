"""What a run leaves behind, by reason."""

from __future__ import annotations

from contextlib import closing

import pytest

from tests.conftest import because
from tests.integration.gate_worker import Worker
from worker.claiming import held_back
from worker.guards import breakers, limits
from worker.profiles import account_rules, store
from worker.profiles.account_rules import Change
from worker.profiles.store import NewProfile

HELD = {"url": "https://held.example/"}


@pytest.fixture
def count(database):
    return lambda *slots: [(item.key, item.jobs) for item in held_back.count(database, *slots)]


def hold(database, seconds=None):
    breakers.open_by_hand(database, "site:held.example", seconds, "it fails", "me")


def test_nothing_is_held_back_where_nothing_is_closed(queue, count):
    queue.enqueue("visit", {})

    assert count() == []


def test_jobs_are_counted_by_what_holds_them_back(database, queue, count):
    queue.enqueue_many("visit", [HELD] * 3)
    queue.enqueue("visit", HELD, priority=7)
    queue.enqueue_many("visit", [{}, {"url": "https://other.example/"}])
    queue.enqueue("visit", HELD, delay_seconds=5000)
    store.add(database, [NewProfile("p1", account_id="a1"), NewProfile("p2")], "me")
    store.pause_account(database, "a1", reason="till the call", by="me")
    queue.enqueue("visit", {}, profile_id="p1")
    queue.enqueue("visit", {}, account_id="a1")
    queue.enqueue("visit", {}, profile_id="p2")
    hold(database)

    assert count() == [("site:held.example", 4), ("profile:p1", 1), ("account:a1", 1)]
    (first, *_) = held_back.count(database)
    assert first.reason == "the breaker of site:held.example is held open: it fails"


def test_a_job_counts_for_the_key_that_opens_last(database, queue, count):
    queue.enqueue("visit", HELD)
    hold(database, seconds=50.0)
    limits.set_limit(database, "task:visit", concurrent=0, per_minute=None, by="me")

    assert count() == [("task:visit", 1)]


def test_a_limit_of_nothing_at_all_holds_everything_back(database, queue, count):
    queue.enqueue_many("visit", [{}, HELD])
    limits.set_limit(database, "global", concurrent=0, per_minute=None, by="me")

    assert count() == [("global", 2)]


def test_a_slice_counts_its_own_jobs(database, count):
    rows = ", ".join(f"""({i}, '{{"url": "https://held.example/"}}')""" for i in range(-4, 7) if i)
    database.run_statement(f"INSERT INTO work_queue (id, payload) VALUES {rows}")
    hold(database)

    assert count(range(2), 4) == [("site:held.example", 5)]


def test_a_count_that_would_take_too_long_says_so(database, queue, monkeypatch):
    monkeypatch.setattr(
        "worker.claiming.ready_jobs.ReadyJobs.end_of_stretch", lambda _, after, last: after + 1
    )
    queue.enqueue_many("visit", [HELD] * 9)
    hold(database)

    (found,) = held_back.count(database, seconds=0.0)

    assert (found.jobs, found.or_more) == (1, True)


def test_an_ordered_account_waits_for_one_failed_job_at_all_its_places(database, queue):
    store.add(database, [NewProfile("p1", account_id="a")], "me")
    account_rules.set_rules(database, "a", Change(is_ordered=True), by="me")
    database.run_statement("UPDATE profiles SET max_active_runs = 9")
    first = queue.enqueue("visit", {}, account_id="a")
    for wanted in ({"profile_id": "p1"}, {"account_id": "a"}, {"profile_id": "p1"}):
        queue.enqueue("visit", {}, **wanted)
    with closing(Worker(database.settings)) as worker:
        queue.fail(worker.claim(), because("it broke"))

    (item,) = held_back.count(database)

    assert item.jobs == 3
    assert item.reason.startswith(f"job {first} failed and its order waits; ")


def test_behind_a_breaker_that_may_be_checked_all_jobs_but_one_are_held_back(
    database, queue, count
):
    queue.enqueue_many("visit", [HELD] * 4)
    queue.enqueue("visit", {})
    hold(database, seconds=50.0)
    database.run_statement("UPDATE breakers SET until = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND")

    (item,) = held_back.count(database)
    assert (item.key, item.jobs) == ("site:held.example", 3)
    assert "one job will check it first" in item.reason

    database.run_statement("DELETE FROM work_queue WHERE id <= 3")
    assert count() == []
