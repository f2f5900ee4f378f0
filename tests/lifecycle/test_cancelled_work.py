"""`cancel --running` stops the task, not only its job: by its worker, or together with it."""

from __future__ import annotations

import pytest

from tests.lifecycle.conftest import run_command, url_of, wait_until
from tests.lifecycle.pool import incarnations, worker_of
from worker.history import archive
from worker.system.process_tree import is_alive

SECONDS = 15.0


@pytest.fixture
def cancel(settings, tmp_path):
    def cancel(job):
        done = run_command(
            tmp_path, "cancel", "--id", job, "--running", "--yes", DATABASE_URL=url_of(settings)
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return cancel


def test_a_page_that_is_at_work_is_stopped_and_its_worker_goes_on(
    launch, queue, tasks, noted, cancel, database
):
    job = queue.enqueue("held_page", {})
    run = launch("--workers", 1, "--tasks", tasks)
    wait_until(lambda: noted("begun"), "it has begun")
    worker = worker_of(database, job)

    assert "at work" in cancel(job)

    # The run ends because there is nothing left to do: the task was held and nobody let it go.
    assert run.wait(SECONDS) == 0
    assert noted("finished") == []
    assert f"job {job} was cancelled or taken away: its task is stopped" in run.stderr
    assert incarnations(database) == 1
    assert not is_alive(worker)
    archived, history = archive.find(database, job)
    assert (archived["status"], history) == ("in_progress", [])


def test_a_worker_whose_task_does_not_stop_is_replaced_and_others_go_on(
    launch, queue, tasks, noted, cancel, let_go, database
):
    stuck = queue.enqueue("shielded", {}, timeout_seconds=600)
    other = queue.enqueue("held", {}, timeout_seconds=600)
    run = launch("--workers", 2, "--tasks", tasks, "--json")
    wait_until(lambda: len(noted("begun")) == 2, "both have begun")
    worker = worker_of(database, stuck)

    cancel(stuck)
    wait_until(lambda: not is_alive(worker), "its worker is ended", SECONDS)
    let_go(other)

    assert run.wait(SECONDS) == 0
    assert queue.get(other)["status"] == "done"
    assert queue.get(stuck) is None
    summary = run.summary
    assert (summary["done"], summary["failed"], summary["crashes"]) == (1, 0, 0)


def test_what_a_worker_does_next_is_not_stopped(launch, queue, tasks, noted, cancel, database):
    first = queue.enqueue("held_page", {}, priority=-1)
    run = launch("--workers", 1, "--tasks", tasks)
    wait_until(lambda: noted("begun"), "the first has begun")
    # It takes longer than it takes until a worker is killed whose task goes on.
    second = queue.enqueue("napping", {"seconds": 4.5})

    cancel(first)

    assert run.wait(2 * SECONDS) == 0
    assert queue.get(second)["status"] == "done"
    assert [job for job, _ in noted("finished")] == [second]
    assert incarnations(database) == 1
