"""A pause holds the pool without cooling it; a run whose time is over starts nothing in vain."""

from __future__ import annotations

import json
import signal
import time
from datetime import timedelta
from functools import partial

import pytest

from tests.lifecycle.conftest import run_command, url_of, wait_until
from tests.lifecycle.pool import incarnations, workers
from worker.system.process_tree import ProcessId, descendants, is_alive


@pytest.fixture
def cli(settings, tmp_path):
    return partial(run_command, tmp_path, DATABASE_URL=url_of(settings))


def test_a_pause_lets_jobs_in_flight_finish_and_keeps_the_pool_warm(
    launch, cli, database, queue, tasks, noted, let_go
):
    held = queue.enqueue("held_page", {}, priority=-1)
    queue.enqueue_many("napping_page", [{"seconds": 0.05}] * 400)
    run = launch("--workers", 2, "--tasks", tasks, "--follow")
    wait_until(lambda: len(noted("finished")) > 3, "the pool is at work")
    wait_until(lambda: len(browsers(database)) == 2, "both workers have their browsers")
    pool = [*workers(database), *browsers(database)]

    assert cli("pause", "--reason", "the site is down").returncode == 0
    (paused_at,) = database.run_statement("SELECT set_at FROM control").pop().values()
    wait_until(lambda: in_progress(database) == [held], "only the job in flight goes on")
    # A job in flight is finished; and whoever has finished one takes no other.
    let_go()
    wait_until(lambda: in_progress(database) == [], "the job in flight is finished")
    assert queue.get(held)["status"] == "done"
    said = cli("status").stdout
    assert "PAUSED since " in said
    assert ": the site is down; continue with: launcher.py resume" in said
    assert json.loads(cli("status", "--json").stdout)["paused"]["reason"] == "the site is down"
    left = queue.counts()["pending"]
    assert left > 20
    assert all(map(is_alive, pool))

    assert cli("resume").stdout == "resumed\n"
    wait_until(lambda: queue.counts()["pending"] < left, "the pool goes on")

    (last,) = database.run_statement(
        "SELECT MAX(started_at) AS claimed_at FROM work_queue WHERE started_at < "
        "(SELECT finished_at FROM work_queue WHERE id = %(held)s)",
        {"held": held},
    )
    assert last["claimed_at"] - paused_at < timedelta(seconds=5)
    assert all(map(is_alive, pool))
    run.signal(signal.SIGTERM)
    assert run.wait() == 0
    assert incarnations(database) == 2


def test_a_run_that_starts_while_all_is_paused_waits(launch, cli, database, queue, tasks, noted):
    job = queue.enqueue("noop", {})
    cli("pause")
    run = launch("--workers", 1, "--tasks", tasks)
    wait_until(lambda: workers(database), "its worker has started")
    # Long enough for a browser to start and a job to be claimed.
    until = time.monotonic() + 2
    wait_until(lambda: queue.get(job)["fence"] or time.monotonic() > until, "it had its time")
    assert (queue.get(job)["status"], queue.get(job)["fence"]) == ("pending", 0)
    assert run.is_running

    cli("resume")

    assert run.wait() == 0
    assert noted("finished") == [(job, 1)]
    assert "nothing is claimed; continue with: launcher.py resume" in run.stderr


def test_a_run_whose_time_is_over_has_started_nothing_that_it_could_not_finish(
    launch, queue, tasks, noted, let_go
):
    jobs = [queue.enqueue("held", {}) for _ in range(3)]

    run = launch("--workers", 1, "--tasks", tasks, "--max-runtime", "12s", "--grace", "5s")
    wait_until(lambda: noted("begun"), "the first has begun")
    # Whenever that was: half the run's time later, less of it is left than the first has taken.
    half = time.monotonic() + 6.5
    wait_until(lambda: time.monotonic() > half, "half of the time is over")
    let_go(jobs[0])

    assert run.wait() == 0
    assert noted("begun") == noted("finished") == [(jobs[0], 1)]
    assert "stopped (the run's time is over)" in run.stdout
    assert "1 done, 0 failed" in run.stdout
    assert "left: 2 pending" in run.stdout
    assert [queue.get(job)["attempts"] for job in jobs] == [1, 0, 0]


def test_a_run_goes_on_until_its_time_is_over(launch, queue, tasks, noted):
    queue.enqueue_many("napping", [{"seconds": 0.1}] * 500)

    run = launch("--workers", 1, "--tasks", tasks, "--max-runtime", "8s", "--json")

    assert run.wait() == 0
    assert run.summary["stopped_by"] == "the run's time is over"
    # All of them would take fifty seconds.
    assert 6 < run.summary["seconds"] < 30
    assert run.summary["done"] == len(noted("begun")) == len(noted("finished")) > 3
    assert run.summary["left"]["pending"] == 500 - run.summary["done"]
    assert run.summary["handed_back"] == 0


def test_a_time_of_day_that_is_none_is_wrong_usage(launch):
    run = launch("--workers", 1, "--until", "25:00")

    assert run.wait() == 2
    assert run.stdout == ""
    (line,) = run.stderr.splitlines()
    assert "--until 25:00 is not a time of day; write it as 06:00" in line


def browsers(database) -> list[ProcessId]:
    """Find the workers' browsers, of those that have theirs already."""
    trees = [descendants(worker.pid) for worker in workers(database)]
    return [stat.id for tree in trees for stat in tree if stat.leads_group]


def in_progress(database) -> list[int]:
    rows = database.run_statement("SELECT id FROM work_queue WHERE status = 'in_progress'")
    return [row["id"] for row in rows]
