"""The database may go away in any way: jobs in flight, browsers and outcomes stay.

Shows invariant 8: what cannot be written now is kept, and written later under its fence.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.conftest import FAST_COMMITS, QueueForTests, reserved_port
from tests.lifecycle.conftest import run_command, url_of, wait_until
from tests.lifecycle.outages import (
    NAME,
    Place,
    disk_full,
    full,
    half_open,
    killed,
    offline,
    read_only,
    stopped,
    too_many_of_the_user,
)
from tests.lifecycle.pool import assert_done_once, browser_of, incarnations, worker_of
from worker.database import migrations
from worker.database.client import Database
from worker.database.private_server import PrivateServer
from worker.database_settings import DatabaseSettings
from worker.drill import finish_ledger
from worker.drill.proxy import Proxy
from worker.system.process_tree import is_alive

# The launcher with five seconds of patience for an answer instead of ten and fifteen. Not less: the
# answers come through this process, which a busy machine may not let run for a while.
IMPATIENT = (
    "from worker.database import client; open_session = client.open_session; "
    "client.open_session = lambda at, seconds, wait: open_session(at, min(seconds, 5.0), wait); "
    "from worker.cli.main import main; main()"
)


@pytest.fixture(scope="module")
def own_server(tmp_path_factory) -> Iterator[PrivateServer]:
    """A server that these tests may stop and kill."""
    folder = tmp_path_factory.mktemp("own")
    with reserved_port() as port:
        server = PrivateServer(folder, port=port, extra_args=FAST_COMMITS)
        yield server
        server.kill()


@pytest.fixture
def place(own_server) -> Iterator[Place]:
    own_server.start()
    assert own_server.port is not None
    with closing(Proxy(own_server.port)) as proxy:
        place = Place(own_server, proxy)
        place.run(
            f"CREATE DATABASE {NAME} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
            "CREATE USER pool@localhost, pool@'127.0.0.1'",
            f"GRANT ALL ON {NAME}.* TO pool@localhost",
            f"GRANT ALL ON {NAME}.* TO pool@'127.0.0.1'",
        )
        yield place
        own_server.start()
        place.run(f"DROP DATABASE {NAME}", "DROP USER pool@localhost, pool@'127.0.0.1'")


@pytest.fixture
def settings(place) -> DatabaseSettings:
    """Here every test looks at its database by the way that it does not break."""
    return DatabaseSettings(database=NAME, unix_socket=str(place.server.socket_path))


def journal(folder: Path) -> list[Path]:
    return list((folder / "state" / "journal").rglob("*.json"))


@pytest.mark.parametrize("trouble", [stopped, half_open])
def test_a_stop_while_the_database_is_away_costs_no_attempt(
    launch, place, database, queue, tasks, noted, let_go, trouble
):
    jobs = [queue.enqueue("held", {}, max_attempts=1) for _ in range(2)]
    flags = ("--workers", 2, "--tasks", tasks, "--grace", "1s")
    run = launch(*flags, program=("-c", IMPATIENT), DATABASE_URL=place.url)
    wait_until(lambda: len(noted("begun")) == 2, "both workers are at work")
    database.close()

    with trouble(place):
        run.signal(signal.SIGTERM)
        run.wait(60)
    let_go()

    assert launch(*flags, DATABASE_URL=place.url).wait(60) == 0
    for job in jobs:
        assert (queue.get(job)["status"], queue.get(job)["attempts"]) == ("done", 1)


@pytest.mark.parametrize(
    "trouble",
    [stopped, killed, half_open, full, read_only, disk_full, too_many_of_the_user, offline],
)
def test_jobs_that_end_while_the_database_is_away_are_written_when_it_is_back(
    launch, place, database, queue, tasks, noted, let_go, tmp_path, trouble
):
    finish_ledger.install(database)
    held = [queue.enqueue("held_page", {}), queue.enqueue("held", {})]
    others = [queue.enqueue("noop", {}) for _ in range(6)]
    run = launch(
        *("--workers", 2, "--tasks", tasks, "--json"),
        program=("-c", IMPATIENT),
        DATABASE_URL=place.url,
    )
    wait_until(lambda: len(noted("begun")) == 2, "both workers are at work")
    pool = [worker_of(database, job) for job in held]
    # A job without a page has no browser.
    pool += [browser_of(pool[0])]
    database.close()

    with trouble(place):
        let_go()
        wait_until(lambda: len(journal(tmp_path)) == 2, "both outcomes are kept", seconds=45)
        assert sorted(noted("finished")) == [(job, 1) for job in held]
        assert all(map(is_alive, pool))

    assert run.wait() == 0
    assert_done_once(database, held + others)
    assert [queue.get(job)["attempts"] for job in held + others] == [1] * 8
    assert (run.summary["done"], run.summary["crashes"], run.summary["handed_back"]) == (8, 0, 0)
    assert incarnations(database) == 2
    assert len(noted("finished")) == 8
    assert journal(tmp_path) == []


def test_an_outcome_that_could_not_be_written_is_written_by_the_next_start_if_it_still_counts(
    launch, place, database, queue, tasks, noted, let_go, tmp_path
):
    kept, overtaken = queue.enqueue("held", {}), queue.enqueue("held", {})
    run = launch("--workers", 2, "--tasks", tasks, DATABASE_URL=place.url)
    wait_until(lambda: len(noted("begun")) == 2, "both jobs have begun")
    database.close()
    place.server.kill()
    let_go()
    wait_until(lambda: len(journal(tmp_path)) == 2, "both outcomes are kept")
    run.signal(signal.SIGTERM)
    wait_until(lambda: "claiming nothing more" in run.stderr, "the first signal is taken")
    run.signal(signal.SIGTERM)
    # Not even its own end could be written.
    assert run.wait() == 69
    assert "left: unknown, because the database does not answer" in run.stdout
    place.server.start()
    # Somebody else has done this one since, under a fence of their own.
    database.run_statement(
        "UPDATE work_queue SET status = 'done', fence = fence + 1, lease_until = NULL, "
        "result = '\"theirs\"' WHERE id = %(id)s",
        {"id": overtaken},
    )
    theirs = queue.get(overtaken), queue.history(overtaken)

    after = launch("--workers", 1, "--tasks", tasks, DATABASE_URL=place.url)

    assert after.wait() == 0
    row = queue.get(kept)
    assert (row["status"], row["attempts"]) == ("done", 1)
    assert [item["outcome"] for item in queue.history(kept)] == ["done"]
    assert (queue.get(overtaken), queue.history(overtaken)) == theirs
    assert f"job {kept} is done: written from the journal" in after.stderr
    assert f"claim on job {overtaken} (fence 1) was lost; its outcome is dropped" in after.stderr
    assert sorted(noted("finished")) == [(kept, 1), (overtaken, 1)]
    assert journal(tmp_path) == []


def test_a_job_is_ended_before_its_lease_is_over_and_a_finished_one_is_not(
    launch, place, database, queue, tasks, noted, let_go, tmp_path
):
    lease_seconds = 9.0
    long, finished = queue.enqueue("held_page", {}), queue.enqueue("held", {})
    run = launch(
        *("--workers", 2, "--tasks", tasks, "--lease", lease_seconds, "--json"),
        DATABASE_URL=place.url,
    )
    wait_until(lambda: len(noted("begun")) == 2, "both jobs have begun")
    owner, other = worker_of(database, long), worker_of(database, finished)
    browser = browser_of(owner)
    database.close()

    place.server.kill()
    killed_at = time.time()
    let_go(finished)
    wait_until(lambda: not is_alive(owner), "the worker is ended")
    # As the job itself saw it, however late we look.
    assert (tmp_path / f"alive-{long}").stat().st_mtime - killed_at < lease_seconds
    wait_until(lambda: not is_alive(browser), "its browser is ended too", seconds=15)
    assert is_alive(other)
    place.server.start()
    let_go()

    assert run.wait() == 0
    handed_back, done = queue.history(long)
    assert (handed_back["outcome"], done["outcome"]) == ("handed_back", "done")
    assert handed_back["reason"] == "handed back: its lease could not be renewed"
    assert [item["outcome"] for item in queue.history(finished)] == ["done"]
    assert [queue.get(job)["attempts"] for job in (long, finished)] == [1, 1]
    assert noted("finished") == [(finished, 1), (long, 1)]
    assert (run.summary["done"], run.summary["handed_back"]) == (2, 1)
    (outage,) = database.run_statement(
        "SELECT run_id, TIMESTAMPDIFF(SECOND, began_at, ended_at) AS seconds FROM events"
    )
    assert outage["run_id"] == run.summary["run_id"]
    assert outage["seconds"] >= lease_seconds / 3


def test_a_server_that_has_just_come_back_is_no_reason_to_take_a_claim_away(
    place, settings, database, queue, claim_as, expire, tmp_path
):
    job = queue.enqueue("noop", {})
    # Nobody could renew it while the server was away.
    expire(claim_as())
    database.close()
    place.server.kill()
    place.server.start()

    def sweep(*flags: object) -> str:
        return run_command(tmp_path, "sweep", *flags, DATABASE_URL=url_of(settings)).stdout

    assert sweep() == "nothing to sweep: every job in progress has a live worker\n"
    assert queue.get(job)["status"] == "in_progress"
    assert sweep("--server-grace", 0) == "put 1 job back to pending and 0 to error\n"
    assert queue.get(job)["status"] == "pending"


@pytest.fixture
def private(tmp_path) -> Iterator[PrivateServer]:
    """The private server of this test's launchers."""
    assert run_command(tmp_path, "db", "start").returncode == 0
    server = PrivateServer(tmp_path / "state" / "mysql")
    yield server
    server.kill()


@pytest.fixture
def private_queue(private) -> Iterator[QueueForTests]:
    settings = DatabaseSettings(unix_socket=str(private.socket_path))
    with closing(Database(settings, patience_seconds=30)) as db:
        migrations.ensure(db)
        yield QueueForTests(db)


def test_a_run_starts_its_killed_private_server_again_and_leaves_it_running(
    launch, private, private_queue, tasks, noted, let_go
):
    jobs = [private_queue.enqueue("held", {}) for _ in range(2)]
    run = launch("--workers", 2, "--tasks", tasks, "--json", DATABASE_URL=None)
    wait_until(lambda: len(noted("begun")) == 2, "both jobs have begun")
    first = private.pid()

    private.kill()
    let_go()

    assert run.wait(60) == 0
    assert [private_queue.get(job)["status"] for job in jobs] == ["done", "done"]
    assert sorted(noted("finished")) == [(job, 1) for job in jobs]
    assert private.pid() not in (None, first)
    began = time.monotonic()
    private.stop()
    # It goes by itself when it is asked to, whoever it was started by.
    assert time.monotonic() - began < 30


def test_a_private_server_stopped_by_hand_stays_so_until_it_is_started_by_hand(
    launch, private, private_queue, tasks, noted, let_go, tmp_path
):
    job = private_queue.enqueue("held", {})
    run = launch("--workers", 1, "--tasks", tasks, "--json", DATABASE_URL=None)
    wait_until(lambda: len(noted("begun")) == 1, "the job has begun")

    refused = run_command(tmp_path, "db", "stop")
    assert refused.returncode == 2
    assert f"pid {run.pid}) is at work on this server" in refused.stderr
    assert run_command(tmp_path, "db", "stop", "--force").returncode == 0
    let_go()
    wait_until(lambda: len(journal(tmp_path)) == 1, "the outcome is kept")
    assert "was stopped; start it: python launcher.py db start" in run.stderr
    assert not private.is_running()

    assert run_command(tmp_path, "db", "start").returncode == 0
    assert run.wait(60) == 0
    assert private_queue.get(job)["status"] == "done"
