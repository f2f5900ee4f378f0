"""Signals to the launcher: finish what is in flight, hand the rest back, leave nothing behind."""

from __future__ import annotations

import signal

import pytest

from tests.lifecycle.conftest import processes_of, wait_until
from worker.system.process_tree import is_alive


@pytest.fixture
def at_work(launch, queue, tasks, noted):
    """A launcher of one worker whose job has begun, with another job waiting behind it."""

    def start(task="held", *flags):
        job, waiting = queue.enqueue(task, {}), queue.enqueue("noop", {})
        run = launch("--workers", 1, "--tasks", tasks, *flags)
        wait_until(lambda: noted("begun"), "the job has begun")
        return run, job, waiting

    return start


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_the_first_signal_finishes_the_job_in_flight_and_claims_nothing_more(
    at_work, queue, noted, let_go, number
):
    run, job, waiting = at_work()

    run.signal(number)
    wait_until(lambda: "claiming nothing more" in run.stderr, "the signal is taken")
    let_go()

    assert run.wait() == 0
    assert noted("finished") == [(job, 1)]
    assert (queue.get(job)["status"], queue.get(waiting)["status"]) == ("done", "pending")
    assert queue.get(waiting)["attempts"] == 0
    assert f"stopped ({number.name})" in run.stdout
    assert "left: 1 pending" in run.stdout


def test_ctrl_c_lets_the_job_in_flight_finish_with_its_browser_alive(at_work, queue, noted, let_go):
    run, job, waiting = at_work("held_page")

    run.signal_group(signal.SIGINT)
    wait_until(lambda: "claiming nothing more" in run.stderr, "the signal is taken")
    let_go()

    assert run.wait() == 0
    row = queue.get(job)
    assert row["status"] == "done"
    assert "still here" in row["result"]
    assert queue.get(waiting)["status"] == "pending"
    assert "stopped (SIGINT)" in run.stdout


@pytest.mark.parametrize("task", ["held_page", "held"])
def test_a_job_that_outlasts_the_grace_is_handed_back_unpenalised(at_work, queue, noted, task):
    run, job, _ = at_work(task, "--grace", "1s", "--json")

    run.signal(signal.SIGTERM)

    assert run.wait() == 0
    row = queue.get(job)
    assert (row["status"], row["attempts"], row["not_before"]) == ("pending", 0, None)
    assert [attempt["outcome"] for attempt in queue.history(job)] == ["handed_back"]
    assert (run.summary["handed_back"], run.summary["failed"]) == (1, 0)
    assert noted("finished") == []


def test_the_second_signal_stops_at_once(at_work, queue):
    run, job, _ = at_work("shielded")
    run.signal(signal.SIGTERM)
    wait_until(lambda: "claiming nothing more" in run.stderr, "the first signal is taken")

    run.signal(signal.SIGTERM)

    # The grace of the first one would last a minute.
    assert run.wait(30) == 0
    row = queue.get(job)
    assert (row["status"], row["attempts"]) == ("pending", 0)
    assert [attempt["outcome"] for attempt in queue.history(job)] == ["handed_back"]


def test_a_stopped_following_run_leaves_an_idle_pool_at_once(launch, database):
    run = launch("--workers", 2, "--follow")
    wait_until(
        lambda: database.run_statement("SELECT COUNT(*) AS n FROM workers")[0]["n"] == 2,
        "both workers have started",
    )

    run.signal(signal.SIGINT)

    assert run.wait(30) == 0
    assert "stopped (SIGINT)" in run.stdout


def test_usr1_prints_one_status_line_and_changes_nothing(at_work, noted, let_go):
    run, job, waiting = at_work()

    run.signal(signal.SIGUSR1)
    wait_until(lambda: "at work: 0:" in run.stderr, "the status is told")
    let_go()

    assert run.wait() == 0
    (line,) = [line for line in run.stderr.splitlines() if "at work" in line]
    assert f"at work: 0:{job}(" in line
    assert "0 done, 0 failed" in line
    assert noted("finished") == [(job, 1), (waiting, 1)]


@pytest.mark.parametrize("task", ["held_page", "shielded"])
def test_a_killed_launcher_takes_its_workers_heart_and_browsers_with_it(
    at_work, queue, tmp_path, task
):
    run, job, _ = at_work(task)
    family = run.family()
    # A worker and the heart; where the job has a page, a driver and Chromium with a child, too.
    assert len(family) >= (5 if task == "held_page" else 2)

    run.signal(signal.SIGKILL)

    assert run.wait() == -signal.SIGKILL
    wait_until(lambda: not any(map(is_alive, family)), "its whole family is gone", seconds=15)
    wait_until(lambda: not processes_of(tmp_path), "and whoever came to it since", seconds=15)
    assert queue.get(job)["status"] == "in_progress"
