"""Irreversible steps while the database is away: begun only when they are kept, and never twice.

Shows invariants 8 and 14: what was done is done, what was not begun costs nothing.
"""

from __future__ import annotations

import shutil
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.conftest import FAST_COMMITS
from tests.lifecycle.conftest import processes_of, wait_until
from worker.database import migrations
from worker.database.client import Database
from worker.database.private_server import PrivateServer
from worker.database_settings import DatabaseSettings

STEP = "placing order"
NAME = "nightshift_orders"
# Leases of this length are given up after two seconds without a renewal.
SHORT_LEASE = ("--lease", "3s")


@pytest.fixture(scope="module")
def own_server(tmp_path_factory) -> Iterator[PrivateServer]:
    """A server that these tests may stop."""
    server = PrivateServer(tmp_path_factory.mktemp("own"), extra_args=FAST_COMMITS)
    server.start()
    yield server
    server.kill()


@pytest.fixture
def settings(own_server) -> Iterator[DatabaseSettings]:
    whole = DatabaseSettings(database="", unix_socket=str(own_server.socket_path))
    with closing(Database(whole)) as db:
        db.run_statement(f"DROP DATABASE IF EXISTS {NAME}")
        db.run_statement(f"CREATE DATABASE {NAME} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")
    return DatabaseSettings(database=NAME, unix_socket=str(own_server.socket_path))


@pytest.fixture
def database(settings) -> Iterator[Database]:
    with closing(Database(settings, patience_seconds=20.0)) as db:
        migrations.migrate(db)
        yield db


@pytest.fixture
def start(launch, tmp_path):
    tasks = shutil.copy(Path(__file__).with_name("order_tasks.py"), tmp_path / "tasks.py")

    def start(*flags: object):
        return launch("--workers", 1, "--tasks", tasks, "--retry-delay", 0, *flags)

    return start


def has_begun(database, job: int) -> bool:
    rows = database.run_statement(f"SELECT 1 FROM work_queue WHERE id = {job} AND attempts = 1")
    return bool(rows)


def kept(folder: Path, pattern: str) -> list[Path]:
    return list((folder / "state" / "journal").rglob(pattern))


def test_a_step_waits_for_the_database_before_it_is_begun(
    start, own_server, database, queue, noted, tmp_path
):
    job = queue.enqueue("order", {"then": "returns", "first": "now"}, timeout_seconds=40)
    run = start()
    wait_until(lambda: has_begun(database, job), "the job has begun")

    own_server.stop()
    (tmp_path / "now").touch()
    wait_until(lambda: "the pool keeps its jobs and waits" in run.output, "the outage is noticed")
    assert noted("ordered") == []
    own_server.start()

    assert run.wait(60) == 0
    assert (queue.get(job)["status"], queue.get(job)["attempts"]) == ("done", 1)
    assert noted("ordered") == [(job, 1)]


def test_a_step_that_cannot_be_kept_in_time_is_not_begun_and_costs_no_attempt(
    start, own_server, database, queue, noted, tmp_path
):
    job = queue.enqueue("order", {"then": "returns", "first": "now"}, timeout_seconds=4)
    run = start()
    wait_until(lambda: has_begun(database, job), "the job has begun")

    own_server.stop()
    (tmp_path / "now").touch()
    wait_until(lambda: kept(tmp_path, "*.json"), "the outcome is kept")
    assert noted("ordered") == []
    own_server.start()

    assert run.wait(60) == 0
    assert (queue.get(job)["status"], queue.get(job)["attempts"]) == ("done", 1)
    assert queue.history(job)[0]["outcome"] == "handed_back"
    assert noted("ordered") == [(job, 1)]


def test_a_job_that_is_given_up_with_its_lease_is_half_done(
    start, own_server, database, queue, noted, tmp_path
):
    job = queue.enqueue("order", {"then": "held"})
    run = start(*SHORT_LEASE)
    wait_until(lambda: noted("ordered"), "it is at its irreversible step")

    own_server.stop()
    wait_until(lambda: "the pool keeps its jobs and waits" in run.output, "the outage is noticed")
    wait_until(lambda: kept(tmp_path, "*.death"), "its worker was killed, and that is kept")
    own_server.start()

    assert run.wait(60) == 0
    row = queue.get(job)
    assert (row["status"], row["irreversible_step"]) == ("error", STEP)
    assert "its lease could not be renewed" in queue.history(job)[-1]["reason"]
    assert queue.history(job)[-1]["evidence"]
    assert noted("ordered") == [(job, 1)]


@pytest.mark.parametrize(("then", "status"), [("returns", "done"), ("retry", "error")])
def test_what_only_the_journal_knows_is_told_by_the_next_start(
    start, own_server, database, queue, noted, tmp_path, then, status
):
    job = queue.enqueue("order", {"then": "after_now", "how": then})
    run = start()
    wait_until(lambda: noted("ordered"), "it is at its irreversible step")

    own_server.stop()
    (tmp_path / "now").touch()
    wait_until(lambda: kept(tmp_path, "*.json"), "the outcome is kept")
    run.signal(signal.SIGKILL)
    run.wait()
    wait_until(lambda: not processes_of(tmp_path), "its whole family is gone", seconds=15)
    own_server.start()

    assert start().wait(60) == 0
    row = queue.get(job)
    assert (row["status"], row["attempts"]) == (status, 1)
    assert row["irreversible_step"] == (None if then == "returns" else STEP)
    assert noted("ordered") == [(job, 1)]


def test_a_task_that_goes_on_without_its_step_being_kept_is_not_tried_again(
    start, own_server, database, queue, noted, let_go, tmp_path
):
    job = queue.enqueue("goes_on_all_the_same", {}, timeout_seconds=4)
    run = start()
    wait_until(lambda: has_begun(database, job), "the job has begun")

    own_server.stop()
    let_go()
    wait_until(lambda: kept(tmp_path, "*.json"), "the outcome is kept")
    own_server.start()

    assert run.wait(60) == 0
    assert (queue.get(job)["status"], queue.get(job)["irreversible_step"]) == ("error", STEP)
    assert noted("ordered") == [(job, 1)]
