"""A worker may die at any moment: its job goes on, its slot goes on, its browser does not."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from tests.lifecycle.conftest import wait_until
from worker.browser.process_tree import (
    ProcessId,
    descendants,
    find_driver,
    is_alive,
    kill,
    kill_group,
)
from worker.drill import finish_ledger


def test_the_job_of_a_killed_worker_is_redone_and_every_job_is_done_once(
    launch, database, queue, tasks, noted, let_go
):
    finish_ledger.install(database)
    held = [queue.enqueue("held", {}) for _ in range(2)]
    others = [queue.enqueue("noop", {}) for _ in range(10)]
    run = launch("--workers", 2, "--tasks", tasks, "--json")
    wait_until(lambda: len(noted("begun")) == 2, "both workers are at work")
    victim, job = worker_of(database, held[0])
    tree = [stat.id for stat in descendants(victim.pid)]
    assert tree, "the worker has a browser"

    kill(victim)
    killed_at = time.monotonic()
    wait_until(lambda: queue.get(job)["fence"] > 1 or queue.get(job)["status"] == "pending", "back")
    assert time.monotonic() - killed_at < 2
    wait_until(lambda: not any(map(is_alive, tree)), "its browser is gone", seconds=5)
    wait_until(lambda: len(noted("begun")) == 3, "the job is being redone")
    let_go()

    assert run.wait() == 0
    assert run.summary["crashes"] == 1
    crashed, done = queue.history(job)
    assert (crashed["outcome"], done["outcome"]) == ("crashed", "done")
    assert "killed by SIGKILL" in crashed["reason"]
    assert_done_once(database, held + others)
    assert sorted(noted("finished")) == sorted(
        [(each, 2 if each == job else 1) for each in held + others]
    )


def test_a_slot_whose_worker_died_gets_a_new_one(launch, database, queue, tasks, noted, let_go):
    job = queue.enqueue("held", {})
    run = launch("--workers", 1, "--tasks", tasks)
    wait_until(lambda: noted("begun"), "the job has begun")
    victim, _ = worker_of(database, job)

    kill(victim)
    wait_until(lambda: len(noted("begun")) == 2, "a new worker has begun the job again")
    let_go()

    assert run.wait() == 0
    assert "worker 0 killed by SIGKILL; starting it again" in run.stderr
    assert "died 1 times" in run.stdout
    endings = database.run_statement("SELECT slot, ending FROM workers ORDER BY id")
    assert [row["ending"] for row in endings] == ["killed by SIGKILL", "finished"]


def test_a_job_that_kills_its_worker_twice_is_an_error(launch, queue, tasks, noted):
    deadly = queue.enqueue("deadly", {})
    good = queue.enqueue("noop", {})

    run = launch("--workers", 1, "--tasks", tasks, "--json")

    assert run.wait() == 0
    assert noted("begun") == [(deadly, 1), (deadly, 2)]
    assert [row["outcome"] for row in queue.history(deadly)] == ["crashed", "crashed"]
    row = queue.get(deadly)
    assert row["status"] == "error"
    assert row["last_error"].startswith("killed its worker or browser 2 times")
    assert queue.get(good)["status"] == "done"
    assert (run.summary["done"], run.summary["failed"], run.summary["crashes"]) == (1, 1, 2)


def test_a_killed_browser_costs_its_job_an_attempt_and_nobody_else(
    launch, database, queue, tasks, noted, let_go
):
    job = queue.enqueue("held_page", {})
    run = launch("--workers", 1, "--tasks", tasks, "--retry-delay", "0", "--json")
    wait_until(lambda: noted("begun"), "the job has begun")
    worker, _ = worker_of(database, job)
    (browser,) = [stat.id for stat in descendants(worker.pid) if stat.leads_group]

    kill_group(browser)
    wait_until(lambda: len(noted("begun")) == 2, "the job is being redone in a new browser")
    let_go()

    assert run.wait() == 0
    assert [row["outcome"] for row in queue.history(job)] == ["crashed", "done"]
    assert run.summary["crashes"] == 0


def test_a_stopped_driver_does_not_keep_the_browser_of_a_killed_worker_alive(
    launch, database, queue, tasks, noted, let_go
):
    job = queue.enqueue("held_page", {})
    run = launch("--workers", 1, "--tasks", tasks)
    wait_until(lambda: noted("begun"), "the job has begun")
    worker, _ = worker_of(database, job)
    tree = [stat.id for stat in descendants(worker.pid)]
    driver = find_driver(worker.pid)
    assert driver is not None
    # By itself a driver ends its browser when its worker is gone; this one cannot.
    os.kill(driver.pid, signal.SIGSTOP)

    kill(worker)

    wait_until(lambda: not any(map(is_alive, tree)), "driver and browser are gone", seconds=5)
    let_go()
    assert run.wait() == 0


def test_a_worker_that_never_comes_back_from_its_job_is_ended_by_the_launcher(
    launch, queue, tasks, noted
):
    stuck = queue.enqueue("shielded", {}, max_attempts=1)
    good = queue.enqueue("noop", {})
    # The launcher with a second of patience instead of its 40.
    impatient = (
        "import worker.supervisor.loop as loop; loop.HANG_GRACE_SECONDS = 1.0; "
        "from worker.cli.main import main; main()"
    )

    run = launch(
        *("--workers", 1, "--tasks", tasks, "--job-timeout", "1s", "--json"),
        program=("-c", impatient),
    )

    assert run.wait() == 0
    assert queue.get(stuck)["status"] == "error"
    (attempt,) = queue.history(stuck)
    assert attempt["outcome"] == "timed_out"
    assert "stuck beyond its timeout in shielded; killed by the launcher" in attempt["reason"]
    assert queue.get(good)["status"] == "done"
    assert (run.summary["done"], run.summary["failed"]) == (1, 1)


def test_a_dead_heart_is_replaced_and_the_pool_goes_on(
    launch, database, queue, tasks, noted, let_go
):
    job = queue.enqueue("held", {})
    run = launch("--workers", 1, "--tasks", tasks)
    wait_until(lambda: noted("begun"), "the job has begun")
    worker, _ = worker_of(database, job)
    children = [stat.id for stat in descendants(run.pid) if stat.parent == run.pid]
    (heart,) = [child for child in children if child != worker]

    kill(heart)
    wait_until(
        lambda: len([s for s in descendants(run.pid) if s.parent == run.pid]) == 2,
        "there is a new heart",
    )
    let_go()

    assert run.wait() == 0
    assert queue.get(job)["status"] == "done"


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """A browser that is there and does not start."""
    program = tmp_path / "broken-chromium"
    program.write_text("#!/bin/sh\nexit 1\n", encoding="ascii")
    program.chmod(0o755)
    return program


def test_a_worker_that_cannot_boot_is_given_up_and_its_job_is_untouched(
    launch, database, queue, broken
):
    job = queue.enqueue("visit", {"url": "about:blank"})

    run = launch("--workers", 1, NIGHTSHIFT_BROWSER=str(broken))

    assert run.wait(20) == 69
    row = queue.get(job)
    assert (row["status"], row["attempts"], queue.history(job)) == ("pending", 0, [])
    assert database.run_statement("SELECT COUNT(*) AS n FROM workers")[0]["n"] == 3
    assert f"{broken} does not start" in run.stderr
    assert "is given up: it could not start" in run.stderr
    assert "gave up after" in run.stdout
    assert "GIVEN UP" in run.stdout
    assert "left: 1 pending" in run.stdout


def test_a_following_worker_whose_browser_does_not_start_is_given_up_too(launch, queue, broken):
    run = launch("--workers", 1, "--follow", NIGHTSHIFT_BROWSER=str(broken))
    wait_until(lambda: len(run.family()) >= 2, "it waits for work")

    job = queue.enqueue("visit", {"url": "about:blank"})

    assert run.wait(20) == 69
    assert (queue.get(job)["status"], queue.get(job)["attempts"]) == ("pending", 0)


def worker_of(database, job_id: int) -> tuple[ProcessId, int]:
    """Find the process that holds a job now."""
    (row,) = database.run_statement(
        "SELECT workers.pid, workers.pid_started FROM workers JOIN work_queue "
        "ON work_queue.incarnation = workers.id WHERE work_queue.id = %(id)s "
        "AND status = 'in_progress'",
        {"id": job_id},
    )
    worker = ProcessId(row["pid"], row["pid_started"])
    assert is_alive(worker)
    return worker, job_id


def assert_done_once(database, job_ids: list[int]) -> None:
    """Ask the ledger that the server itself has kept, if the test had it installed."""
    assert finish_ledger.finishes(database) == dict.fromkeys(job_ids, 1)
