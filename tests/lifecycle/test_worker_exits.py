"""A worker's exit code is believed only where the worker itself has chosen it."""

from __future__ import annotations

import os
import signal

import pytest

from tests.lifecycle.conftest import wait_until
from tests.lifecycle.pool import worker_of

TASKS = """
import os

from worker import task


@task("leaves", browser=False)
def leaves(page, payload, job):
    os._exit(payload["code"])


@task("stays", browser=False)
def stays(page, payload, job):
    return True
"""


@pytest.mark.parametrize("code", [0, 64, 75])
def test_a_task_that_ends_its_process_is_a_crash_whatever_the_code(launch, queue, tmp_path, code):
    (tmp_path / "leaving.py").write_text(TASKS)
    leaving = queue.enqueue("leaves", {"code": code})
    others = [queue.enqueue("stays", {}) for _ in range(3)]

    run = launch("--workers", 1, "--tasks", tmp_path / "leaving.py")

    assert run.wait(60) == 0
    assert "killed its worker or browser 2 times" in queue.get(leaving)["last_error"]
    assert [queue.get(job)["status"] for job in others] == ["done"] * 3


def test_a_worker_that_a_stranger_stops_is_started_again(
    launch, database, queue, tasks, noted, let_go
):
    jobs = [queue.enqueue("held", {}), *(queue.enqueue("noop", {}) for _ in range(3))]
    run = launch("--workers", 1, "--tasks", tasks)
    wait_until(lambda: len(noted("begun")) == 1, "the job has begun")

    os.kill(worker_of(database, jobs[0]).pid, signal.SIGTERM)
    let_go()

    assert run.wait(60) == 0
    assert [queue.get(job)["status"] for job in jobs] == ["done"] * 4
