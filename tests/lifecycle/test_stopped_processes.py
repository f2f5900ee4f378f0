"""A process that somebody has stopped is not dead, and no child's end tells of it."""

from __future__ import annotations

import os
import signal

from tests.lifecycle.conftest import wait_until
from tests.lifecycle.pool import heart_of, workers
from worker.system.process_tree import ProcessId, is_alive, read_stat


def test_a_worker_that_is_stopped_while_it_has_no_job_is_replaced(
    launch, database, queue, tasks, noted
):
    run = launch("--workers", 1, "--follow", "--tasks", tasks, "--hang-grace", "1s")
    first = queue.enqueue("noop", {})
    wait_until(lambda: queue.get(first)["status"] == "done", "the worker is idle again")
    (worker,) = workers(database)

    os.kill(worker.pid, signal.SIGSTOP)
    job = queue.enqueue("noop", {})

    wait_until(lambda: (job, 1) in noted("finished"), "another worker has done the job")
    assert not is_alive(worker)
    assert "s; killed by the launcher; starting it again" in run.stderr
    run.signal(signal.SIGTERM)
    assert run.wait() == 0


def test_a_worker_that_is_stopped_for_a_moment_is_left_alone(launch, database, queue, tasks, noted):
    # How long a moment may be is told by tests/unit/test_stopped.py.
    run = launch("--workers", 1, "--follow", "--tasks", tasks, "--hang-grace", "20s")
    first = queue.enqueue("noop", {})
    wait_until(lambda: queue.get(first)["status"] == "done", "the worker is idle again")
    (worker,) = workers(database)

    for _ in range(4):
        os.kill(worker.pid, signal.SIGSTOP)
        wait_until(lambda: is_in_state(worker, "T"), "it stands still")
        os.kill(worker.pid, signal.SIGCONT)
        job = queue.enqueue("noop", {})
        wait_until(lambda job=job: (job, 1) in noted("finished"), "it goes on")

    assert workers(database) == [worker]
    run.signal(signal.SIGTERM)
    assert run.wait() == 0


def test_a_heart_that_is_stopped_is_replaced(launch, database, queue, tasks, noted):
    run = launch("--workers", 1, "--follow", "--tasks", tasks, "--lease", "3s")
    first = queue.enqueue("noop", {})
    wait_until(lambda: noted("finished") == [(first, 1)], "the worker is idle again")
    heart = heart_of(run.pid, database)

    os.kill(heart.pid, signal.SIGSTOP)
    # Only a heart lets a waiting job come due.
    job = queue.enqueue("retried", {"succeeds_at": 2, "after": 0.1})

    wait_until(lambda: (job, 2) in noted("finished"), "the retry has come due")
    assert not is_alive(heart)
    run.signal(signal.SIGTERM)
    assert run.wait() == 0


def is_in_state(process: ProcessId, state: str) -> bool:
    stat = read_stat(process.pid)
    return stat is not None and stat.state == state
