"""A run ends when nothing is left that it could do or wait for, and says what it leaves and why."""

from __future__ import annotations

import signal

import pytest

from tests.lifecycle.conftest import wait_until
from worker.guards import breakers, limits
from worker.profiles import store
from worker.profiles.states import State
from worker.profiles.store import NewProfile
from worker.proxies import store as proxies
from worker.proxies.proxy import Proxy

HELD = {"url": "https://held.example/"}
BREAKER = "the breaker of site:held.example is held open: it fails"


@pytest.fixture
def hold(database):
    def hold(seconds=None):
        breakers.open_by_hand(database, "site:held.example", seconds, "it fails", "me")

    return hold


def test_a_run_says_what_is_held_back_by_reason_and_once(launch, database, queue, tasks, hold):
    queue.enqueue_many("noop", [HELD] * 1445)
    queue.enqueue_many("noop", [{}] * 3)
    store.add_account(database, "a1", by="me")
    store.pause_account(database, "a1", reason="till the call", by="me")
    queue.enqueue("noop", {}, account_id="a1")
    queue.enqueue("noop", {}, delay_seconds=5000)
    hold()

    run = launch("--workers", 2, "--tasks", tasks)

    assert run.wait() == 11, run.output
    assert "stopped with 1,446 jobs held back after" in run.stdout
    assert "3 done" in run.stdout
    assert f"  held back: 1,445 jobs: {BREAKER}\n" in run.stdout
    assert "  held back: 1 job: account a1 is paused: till the call\n" in run.stdout
    assert "(1 of them waiting for their time)" in run.stdout
    assert run.output.count(BREAKER) == 1
    assert "drained" not in run.stdout


def test_a_quiet_run_tells_of_it_too(launch, queue, tasks, hold):
    queue.enqueue("noop", HELD)
    hold()

    run = launch("--workers", 1, "--tasks", tasks, "--quiet")

    assert run.wait() == 11
    assert f"held back: 1 job: {BREAKER}" in run.stdout


def test_what_is_held_back_is_part_of_the_summary(launch, queue, tasks, hold):
    queue.enqueue_many("noop", [HELD] * 2)
    hold()

    run = launch("--workers", 1, "--tasks", tasks, "--json")

    assert run.wait() == 11
    assert run.summary["held_back"] == [
        {"key": "site:held.example", "reason": BREAKER, "jobs": 2, "or_more": False}
    ]


def test_too_many_failures_weigh_more(launch, queue, tasks, hold):
    queue.enqueue("noop", HELD)
    queue.enqueue("no such task", {})
    hold()

    assert launch("--workers", 1, "--tasks", tasks, "--fail-over", 0).wait() == 10


def test_a_run_that_was_stopped_has_not_been_held_back(launch, queue, tasks, noted, hold):
    queue.enqueue("noop", HELD)
    done = queue.enqueue("noop", {})
    hold()
    run = launch("--workers", 1, "--tasks", tasks, "--follow", "--json")
    wait_until(lambda: noted("finished") == [(done, 1)], "the other job is done")

    run.signal(signal.SIGTERM)

    assert run.wait() == 0
    assert run.summary["held_back"] == []


def test_a_limit_of_nothing_at_all_ends_a_run(launch, database, queue, tasks):
    queue.enqueue_many("noop", [{}] * 3)
    limits.set_limit(database, "global", concurrent=0, per_minute=None, by="me")

    run = launch("--workers", 2, "--tasks", tasks)

    assert run.wait() == 11
    assert "held back: 3 jobs: global is limited to 0 at once (0 running)" in run.stdout


def test_a_paused_account_ends_a_run_though_an_unrelated_profile_is_busy(
    launch, database, queue, tasks
):
    store.add(database, [NewProfile("p1", account_id="a1"), NewProfile("busy")], "me")
    store.pause_account(database, "a1", reason="till the call", by="me")
    store.check_out(database, "busy", person="me", seconds=600.0, reason="")
    queue.enqueue("noop", {}, profile_id="p1")

    run = launch("--workers", 1, "--tasks", tasks)

    assert run.wait() == 11
    assert "held back: 1 job: account a1 is paused: till the call" in run.stdout


@pytest.mark.parametrize("slots", [("--workers", 1), ("--workers", 1, "--total", 3, "--offset", 1)])
def test_more_priorities_than_are_asked_one_by_one_hold_no_run_up(
    launch, queue, tasks, noted, hold, slots
):
    for priority in range(10):
        queue.enqueue("noop", HELD, priority=priority)
    last = queue.enqueue("noop", {}, priority=99)
    hold()

    run = launch(*slots, "--tasks", tasks)

    assert run.wait() == 11
    assert noted("finished") == [(last, 1)]
    assert f"held back: 10 jobs: {BREAKER}" in run.stdout


def test_jobs_with_ids_below_one_are_done(launch, database, queue, tasks):
    database.run_statement("SET sql_mode = CONCAT(@@sql_mode, ',NO_AUTO_VALUE_ON_ZERO')")
    database.run_statement(
        "INSERT INTO work_queue (id, task, payload) VALUES (-5, 'noop', '{}'), (0, 'noop', '{}')"
    )

    run = launch("--workers", 2, "--tasks", tasks)

    assert run.wait() == 0
    assert queue.counts()["done"] == 2


def test_the_lease_of_job_0_is_renewed(launch, database, queue, tasks):
    database.run_statement("SET sql_mode = CONCAT(@@sql_mode, ',NO_AUTO_VALUE_ON_ZERO')")
    database.run_statement(
        """INSERT INTO work_queue (id, task, payload) VALUES (0, 'napping', '{"seconds": 6}')"""
    )

    run = launch("--workers", 1, "--tasks", tasks, "--lease", "3s")
    wait_until(lambda: queue.get(0)["status"] == "in_progress", "it runs")
    first = queue.get(0)["lease_until"]
    wait_until(lambda: queue.get(0)["lease_until"] != first, "its lease is renewed")

    assert run.wait() == 0
    assert (queue.get(0)["status"], queue.get(0)["attempts"]) == ("done", 1)


def test_a_run_waits_for_what_opens_in_time(launch, queue, tasks, noted, hold):
    job = queue.enqueue("noop", HELD)
    hold(seconds=3.0)

    run = launch("--workers", 2, "--tasks", tasks)

    assert run.wait() == 0
    assert noted("finished") == [(job, 1)]


def test_what_becomes_ready_while_many_are_held_back_is_done_within_seconds(
    launch, database, queue, tasks, noted, hold
):
    waiting = queue.enqueue("noop", {}, delay_seconds=5000)
    rows = ", ".join(["""('noop', '{"url": "https://held.example/"}')"""] * 20_000)
    database.run_statement(f"INSERT INTO work_queue (task, payload) VALUES {rows}")
    hold()
    run = launch("--workers", 2, "--tasks", tasks, "--follow")
    first = queue.enqueue("noop", {})
    wait_until(lambda: noted("finished") == [(first, 1)], "the first job is done")

    new = queue.enqueue("noop", {})
    wait_until(lambda: (new, 1) in noted("finished"), "the new job is done", 5.0)
    database.run_statement(
        "UPDATE work_queue SET not_before = UTC_TIMESTAMP(6) WHERE not_before IS NOT NULL"
    )
    wait_until(lambda: (waiting, 1) in noted("finished"), "the job that came due is done", 10.0)

    run.signal(signal.SIGTERM)
    assert run.wait() == 0


def test_an_account_whose_only_profile_has_a_breaker_held_open_does_not_keep_a_run_waiting(
    launch, database, queue, tasks
):
    store.add(database, [NewProfile("p1", account_id="a1")], "me")
    queue.enqueue("noop", {}, account_id="a1")
    breakers.open_by_hand(database, "profile:p1", None, "it fails", "me")

    run = launch("--workers", 1, "--tasks", tasks)

    assert run.wait(30) == 11, run.output
    assert "held back: 1 job: no profile of account a1 is ready: the breaker of" in run.stdout


def test_tasks_without_a_browser_are_done_while_no_proxy_can_be_used(
    launch, database, queue, tasks, noted
):
    proxies.add(database, Proxy("http", "t1.example", 8080, name="t1"))
    proxies.disable(database, "t1")
    queue.enqueue("held_page", {})
    done = [queue.enqueue("noop", {}) for _ in range(3)]

    run = launch("--workers", 1, "--tasks", tasks)

    assert run.wait() == 11, run.output
    assert sorted(noted("finished")) == [(job, 1) for job in done]
    assert "held back: 1 job: the only proxy is disabled" in run.stdout


def test_jobs_that_can_only_fail_do_not_wait_for_a_profile_that_is_set_aside(
    launch, database, queue, tasks
):
    store.add(database, [NewProfile("p1", account_id="a1")], "me")
    store.set_state(database, "p1", State.QUARANTINED, reason="a prompt", by="me")
    steps = [{"fill": {"#password": {"secret": "NO_SUCH_SECRET"}}}]
    real = queue.enqueue("noop", {}, profile_id="p1")
    hopeless = {
        queue.enqueue("noop", {}, profile_id="p1", account_id="typo"): "not to typo",
        queue.enqueue("noop", {"manifest": {"profil": 1}}, profile_id="p1"): "unknown field",
        queue.enqueue("no such task", {}, profile_id="p1"): "no task named 'no such task'",
        queue.enqueue("steps", {"steps": steps}, account_id="a1"): "no secret NO_SUCH_SECRET",
    }
    over = queue.enqueue("noop", {}, profile_id="p1")
    hopeless[over] = "it has had its 4 attempts"
    database.run_statement(f"UPDATE work_queue SET attempts = 4 WHERE id = {over}")

    run = launch("--workers", 2, "--tasks", tasks)

    assert run.wait() == 11, run.output
    for job, reason in hopeless.items():
        assert queue.get(job)["status"] == "error"
        assert reason in queue.get(job)["last_error"]
    assert (queue.get(real)["status"], queue.get(real)["attempts"]) == ("pending", 0)
    assert "held back: 1 job: profile p1 is quarantined: a prompt" in run.stdout
