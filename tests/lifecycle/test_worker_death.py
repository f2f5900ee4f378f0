"""A worker may die at any moment: its job goes on, its slot goes on, its browser does not.

Shows invariant 5: the job of a dead worker returns to pending by itself.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.lifecycle.conftest import wait_until
from tests.lifecycle.pool import (
    assert_done_once,
    browser_of,
    driver_of,
    heart_of,
    incarnations,
    worker_of,
)
from worker.browser.options import find_browser
from worker.drill import finish_ledger
from worker.system.process_tree import descendants, is_alive, kill, kill_group


def test_the_job_of_a_killed_worker_is_redone_and_every_job_is_done_once(
    launch, database, queue, tasks, noted, let_go
):
    finish_ledger.install(database)
    held = [queue.enqueue("held_page", {}) for _ in range(2)]
    others = [queue.enqueue("noop", {}) for _ in range(10)]
    run = launch("--workers", 2, "--tasks", tasks, "--json")
    wait_until(lambda: len(noted("begun")) == 2, "both workers are at work")
    job = held[0]
    victim = worker_of(database, job)
    tree = [stat.id for stat in descendants(victim.pid)]
    assert tree, "the worker has a browser"

    kill(victim)
    # Its lease would last three minutes.
    is_back = lambda: queue.get(job)["fence"] > 1 or queue.get(job)["status"] == "pending"  # noqa: E731
    wait_until(is_back, "the job is back")
    wait_until(lambda: not any(map(is_alive, tree)), "its browser is gone", seconds=15)
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
    victim = worker_of(database, job)

    kill(victim)
    wait_until(lambda: len(noted("begun")) == 2, "a new worker has begun the job again")
    let_go()

    assert run.wait() == 0
    assert "worker 0 killed by SIGKILL; starting it again" in run.stderr
    assert "died 1 time" in run.stdout
    endings = database.run_statement("SELECT slot, ending FROM workers ORDER BY id")
    assert [row["ending"] for row in endings] == ["killed by SIGKILL", "finished"]


def test_a_job_of_a_killed_worker_is_taken_up_within_two_seconds_on_a_busy_machine(
    launch, database, queue, tasks, noted, let_go, request
):
    job = queue.enqueue("held", {})
    run = launch("--workers", 2, "--tasks", tasks)
    wait_until(lambda: noted("begun"), "the job has begun")
    # Both have their browsers: what takes the time now is the launcher, the heart and the search.
    queue.enqueue("noop", {})
    wait_until(lambda: noted("finished"), "the other worker has worked")
    victim = worker_of(database, job)
    for _ in range(4):
        hog = subprocess.Popen([sys.executable, "-c", "while True: pass"])
        request.addfinalizer(lambda hog=hog: (hog.kill(), hog.wait()))

    began = time.monotonic()
    kill(victim)
    wait_until(lambda: len(noted("begun")) == 2, "the job is being redone")
    took = time.monotonic() - began
    let_go()

    assert run.wait() == 0
    assert took < 2.0


FAILING_FORKS = """
import errno, itertools, os, sys
real, number, launcher = os.fork, itertools.count(1), os.getpid()
failing = set(map(int, sys.argv.pop(1).split(",")))
def fork():
    if os.getpid() == launcher and next(number) in failing:
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))
    return real()
os.fork = fork
from worker.cli.main import main
main()
"""


def test_forks_that_fail_at_the_start_and_at_a_respawn_are_tried_again(
    launch, database, queue, tasks, noted, let_go
):
    held, other = queue.enqueue("held", {}), queue.enqueue("noop", {})
    # One and two are for the checks before the run, six and seven become heart and worker, eight
    # and nine would be the next worker.
    run = launch(
        *("--workers", 1, "--tasks", tasks, "--json"),
        program=("-c", FAILING_FORKS, "1,3,4,5,8,9"),
    )
    wait_until(lambda: noted("begun"), "the job has begun", seconds=60)
    kill(worker_of(database, held))
    wait_until(lambda: len(noted("begun")) == 2, "it is being redone", seconds=60)
    let_go()

    assert run.wait(60) == 0
    assert [queue.get(job)["status"] for job in (held, other)] == ["done"] * 2
    assert run.summary["crashes"] == 1
    assert run.stderr.count("cannot start a process (Resource temporarily unavailable)") == 2
    assert run.stderr.count("processes can be started again") == 2
    (row,) = database.run_statement("SELECT ended_at FROM runs")
    assert row["ended_at"] is not None


def test_how_a_worker_ended_stands_in_the_history_of_its_job(launch, queue, tasks, tmp_path):
    expected = {
        queue.enqueue("dying", {"signal": "SIGSEGV"}, max_attempts=1): "killed by SIGSEGV",
        queue.enqueue("dying", {"code": 3}, max_attempts=1): "exited with code 3",
        queue.enqueue("devoured", {}, max_attempts=1): "killed by SIGKILL, out of memory",
    }
    # The launcher reads a counter of the kernel's that a test can raise.
    counter = tmp_path / "vmstat"
    counter.write_text("oom_kill 4\n", encoding="ascii")
    program = (
        "import pathlib; from worker.supervisor import oom; "
        f"oom.oom_kills.__defaults__ = ((pathlib.Path({str(counter)!r}),),); "
        "from worker.cli.main import main; main()"
    )

    # One after the other: a death that is seen after the counter was raised would take the blame.
    run = launch("--workers", 1, "--tasks", tasks, "--json", program=("-c", program))

    assert run.wait() == 0
    assert run.summary["crashes"] == 3
    for job, ending in expected.items():
        (attempt,) = queue.history(job)
        assert attempt["outcome"] == "crashed"
        assert f" died: {ending} (attempt 1 of 1, no more)" in attempt["reason"]
        assert queue.get(job)["status"] == "error"


def test_a_killed_browser_costs_its_job_an_attempt_and_nobody_else(
    launch, database, queue, tasks, noted, let_go
):
    job = queue.enqueue("held_page", {})
    run = launch("--workers", 1, "--tasks", tasks, "--retry-delay", "0", "--json")
    wait_until(lambda: noted("begun"), "the job has begun")
    browser = browser_of(worker_of(database, job))

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
    worker = worker_of(database, job)
    tree = [stat.id for stat in descendants(worker.pid)]
    driver = driver_of(worker)
    # By itself a driver ends its browser when its worker is gone; this one cannot.
    os.kill(driver.pid, signal.SIGSTOP)

    kill(worker)

    wait_until(lambda: not any(map(is_alive, tree)), "driver and browser are gone", seconds=15)
    let_go()
    assert run.wait() == 0


def test_a_dead_heart_is_replaced_and_the_pool_goes_on(
    launch, database, queue, tasks, noted, let_go
):
    job = queue.enqueue("held", {})
    run = launch("--workers", 1, "--tasks", tasks)
    wait_until(lambda: noted("begun"), "the job has begun")
    known = {worker_of(database, job), heart_of(run.pid, database)}

    kill(heart_of(run.pid, database))
    wait_until(
        lambda: {s.id for s in descendants(run.pid) if s.parent == run.pid} - known,
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

    assert run.wait() == 69
    row = queue.get(job)
    assert (row["status"], row["attempts"], queue.history(job)) == ("pending", 0, [])
    assert incarnations(database) == 3
    assert f"{broken} does not start" in run.stderr
    assert "is given up: it could not start" in run.stderr
    assert "gave up after" in run.stdout
    assert "GIVEN UP" in run.stdout
    assert "left: 1 pending" in run.stdout


def test_a_slot_that_cannot_boot_is_given_up_and_the_others_do_its_share(
    launch, database, queue, tasks, noted, let_go, tmp_path
):
    finish_ledger.install(database)
    jobs = [queue.enqueue("held_page", {})]
    jobs += [queue.enqueue("visit", {"url": "about:blank"}) for _ in range(6)]
    # Slot 1 alone has no browser: its temporary folder tells whose a start is.
    picky = tmp_path / "picky-chromium"
    picky.write_text(
        '#!/bin/sh\ncase "$TMPDIR" in */worker-1-*) exit 1;; esac\n'
        f'exec {find_browser(None)} "$@"\n',
        encoding="utf-8",
    )
    picky.chmod(0o755)

    run = launch("--workers", 2, "--tasks", tasks, NIGHTSHIFT_BROWSER=str(picky))
    wait_until(lambda: "worker 1 is given up: it could not start" in run.stderr, "it is given up")
    let_go()

    assert run.wait() == 0
    assert_done_once(database, jobs)
    assert incarnations(database) == 4
    assert "drained after" in run.stdout
    (line,) = [line for line in run.stdout.splitlines() if "worker 1:" in line]
    assert "0 done, 0 failed, died 3 times, GIVEN UP (exited with code 69)" in line


def test_a_following_worker_whose_browser_does_not_start_is_given_up_too(launch, queue, broken):
    run = launch("--workers", 1, "--follow", NIGHTSHIFT_BROWSER=str(broken))
    wait_until(lambda: len(run.family()) >= 2, "it waits for work")

    job = queue.enqueue("visit", {"url": "about:blank"})

    assert run.wait() == 69
    assert (queue.get(job)["status"], queue.get(job)["attempts"]) == ("pending", 0)
