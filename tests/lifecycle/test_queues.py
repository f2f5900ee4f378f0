"""A run works its queues and the tasks it knows; everything else stays for another run."""

from __future__ import annotations

from functools import partial

import pytest

from tests.lifecycle.conftest import run_command, url_of, wait_until
from worker.claiming import held_back


@pytest.fixture
def cli(settings, tmp_path):
    return partial(run_command, tmp_path, DATABASE_URL=url_of(settings))


def test_jobs_of_unknown_tasks_wait_for_a_run_that_knows_them(launch, queue, tasks):
    unknown = [queue.enqueue("noop", {}) for _ in range(3)]

    first = launch("--workers", 2, NIGHTSHIFT_UNKNOWN_TASKS=None)
    assert first.wait() == 11, first.output
    assert "stopped with 3 jobs held back" in first.stdout
    assert "held back: 3 jobs: no task named 'noop' is loaded; load its file" in first.stdout
    assert {queue.get(job)["attempts"] for job in unknown} == {0}

    second = launch("--workers", 2, "--tasks", tasks, NIGHTSHIFT_UNKNOWN_TASKS=None)
    assert second.wait() == 0, second.output
    assert {queue.get(job)["status"] for job in unknown} == {"done"}


def test_unknown_tasks_fail_only_when_that_is_asked_for(launch, queue):
    job = queue.enqueue("noop", {})

    assert launch("--workers", 1, "--unknown-tasks", "fail").wait() == 0
    assert queue.get(job)["status"] == "error"


def test_a_run_drains_its_queues_and_leaves_the_others(launch, queue, tasks):
    mine = [queue.enqueue("noop", {}, queue=name) for name in ("a", "b", "a")]
    others = [queue.enqueue("noop", {}), queue.enqueue("noop", {}, queue="c")]

    run = launch("--workers", 2, "--tasks", tasks, "--queue", "a,b")

    assert run.wait() == 0, run.output
    assert "drained" in run.stdout
    assert "left: nothing" in run.stdout
    assert {queue.get(job)["status"] for job in mine} == {"done"}
    assert {queue.get(job)["status"] for job in others} == {"pending"}


def test_runs_of_different_queues_work_side_by_side(launch, queue, tasks, noted, let_go):
    held = queue.enqueue("held", {}, queue="slow")
    slow = launch("--workers", 1, "--tasks", tasks, "--queue", "slow")
    wait_until(lambda: noted("begun"), "the slow job has begun")
    queue.enqueue("noop", {})

    usual = launch("--workers", 1, "--tasks", tasks)
    assert usual.wait() == 0, usual.output
    assert "1 done" in usual.stdout
    again = launch("--workers", 1, "--tasks", tasks, "--queue", "fast,slow", "--if-locked", "fail")
    assert again.wait() == 75

    assert slow.is_running
    let_go()
    assert slow.wait() == 0
    assert queue.get(held)["status"] == "done"


def test_a_wrong_queue_is_refused_in_one_line(cli):
    for flags in (("run", "--queue", "a,,b"), ("enqueue", "https://e.org", "--queue", "a b")):
        done = cli(*flags)
        assert done.returncode == 2
        assert "a queue's name has 1 to 50 letters" in done.stderr


def test_the_commands_know_queues(cli, database, queue):
    assert cli("enqueue", "https://e.org", "--queue", "slow").returncode == 0
    queue.enqueue("visit", {})
    (row,) = database.run_statement("SELECT id FROM work_queue WHERE queue = 'slow'")

    assert "  queue     slow\n" in cli("show", row["id"]).stdout
    told = cli("status").stdout
    assert "queue default: 1 ready, 0 in progress\nqueue slow: 1 ready, 0 in progress\n" in told
    assert "resume --queue slow" in cli("pause", "--queue", "slow").stdout
    assert "queue slow: 1 ready, 0 in progress; PAUSED by" in cli("status").stdout
    assert cli("resume", "--queue", "slow").stdout == "resumed\n"


def test_a_mistyped_task_is_warned_of(cli):
    wrong = cli("enqueue", "https://e.org", "--task", "vist")
    right = cli("enqueue", "https://e.org", "--task", "visit")

    assert wrong.returncode == 0
    assert "knows a task named 'vist' (is 'visit' meant?)" in wrong.stderr
    assert right.stderr == ""


def test_a_run_whose_workers_are_all_busy_knows_what_it_leaves(
    launch, queue, tasks, database, let_go
):
    queue.enqueue("held", {})
    run = launch("--workers", 1, "--tasks", tasks, "--lease", "3s", NIGHTSHIFT_UNKNOWN_TASKS=None)
    wait_until(lambda: queue.counts()["in_progress"], "the job is at work")
    queue.enqueue_many("unheard", [{}, {}])

    def told():
        return [(item.key, item.jobs) for item in held_back.count(database)]

    wait_until(lambda: told() == [("task:unheard", 2)], "the unknown task is held back", 40.0)
    assert queue.counts()["in_progress"] == 1
    let_go()
    assert run.wait() == 11, run.output
