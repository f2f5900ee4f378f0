"""One run per database on one host, unless asked otherwise."""

from __future__ import annotations

import signal

import pytest

from tests.lifecycle.conftest import processes_of, wait_until
from tests.lifecycle.pool import incarnations


@pytest.fixture
def first(launch, queue, tasks, noted):
    """A run that is at work and holds the lock."""
    queue.enqueue("held", {})
    run = launch("--workers", 1, "--tasks", tasks)
    wait_until(lambda: noted("begun"), "the job has begun")
    return run


def test_a_second_run_leaves_the_first_the_work_and_says_so(first, launch):
    second = launch("--workers", 1)

    assert second.wait() == 0
    assert second.stdout == ""
    (line,) = second.stderr.splitlines()
    assert f"the run with pid {first.pid}, started " in line
    assert "this run leaves the jobs to it" in line
    assert first.is_running


def test_a_quiet_second_run_says_nothing(first, launch):
    second = launch("--workers", 1, "--quiet")

    assert second.wait() == 0
    assert second.output == ""


def test_a_second_run_can_be_told_to_fail(first, launch):
    second = launch("--workers", 1, "--if-locked", "fail")

    assert second.wait() == 75
    assert second.stdout == ""
    (line,) = second.stderr.splitlines()
    assert f"pid {first.pid}" in line


def test_a_second_run_can_wait_for_the_first(first, launch, queue, tasks, noted, let_go):
    second = launch("--workers", 1, "--tasks", tasks, "--if-locked", "wait", "--json")
    wait_until(lambda: f"waiting for the run with pid {first.pid}" in second.stderr, "it waits")
    late = queue.enqueue("noop", {}, delay_seconds=3600)

    let_go()

    assert first.wait() == 0
    assert second.wait() == 0
    assert second.summary["left"] == {"pending": 1, "in_progress": 0, "waiting": 1}
    assert queue.get(late)["status"] == "pending"


def test_a_second_run_can_work_beside_the_first(first, launch, queue, tasks, noted, let_go):
    job = queue.enqueue("noop", {})

    second = launch("--workers", 1, "--tasks", tasks, "--if-locked", "ignore")
    wait_until(lambda: noted("finished") == [(job, 1)], "the second run does the other job")
    assert first.is_running
    let_go()

    assert first.wait() == 0
    assert second.wait() == 0


def test_a_host_that_is_named_by_hand_works_beside_another_in_one_folder(
    first, launch, queue, tasks, noted, let_go
):
    job = queue.enqueue("noop", {})

    second = launch("--workers", 1, "--tasks", tasks, "--slots", "auto", NIGHTSHIFT_HOST="night-2")
    wait_until(lambda: noted("finished") == [(job, 1)], "the second host does the other job")
    assert first.is_running
    let_go()

    assert first.wait() == 0
    assert second.wait() == 0


def test_launchers_that_share_no_folder_still_exclude_each_other(first, launch, tmp_path):
    second = launch(
        "--workers", 1, "--if-locked", "fail", NIGHTSHIFT_STATE_DIR=str(tmp_path / "other")
    )

    assert second.wait() == 75
    (line,) = second.stderr.splitlines()
    assert "another run on this host holds the database's lock" in line


def test_a_killed_run_frees_the_lock(first, launch, database, tmp_path):
    first.signal(signal.SIGKILL)
    first.wait()
    wait_until(lambda: not processes_of(tmp_path), "its whole family is gone", seconds=15)

    second = launch("--workers", 1, "--if-locked", "fail", "--follow")
    wait_until(lambda: incarnations(database) == 2 or not second.is_running, "it has a worker")
    second.signal(signal.SIGTERM)

    assert second.wait() == 0
    assert "stopped (SIGTERM)" in second.stdout


def test_runs_on_different_databases_do_not_mind_each_other(first, launch, mysql, settings):
    with mysql.cursor() as cursor:
        cursor.execute("CREATE DATABASE nightshift_other")
    try:
        url = f"mysql://root@localhost/nightshift_other?socket={settings.unix_socket}"
        assert launch("--workers", 1, "--if-locked", "fail", DATABASE_URL=url).wait() == 0
    finally:
        with mysql.cursor() as cursor:
            cursor.execute("DROP DATABASE nightshift_other")
