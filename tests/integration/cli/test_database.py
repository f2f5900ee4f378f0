"""`launcher.py db …`: the private server from the command line."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.lifecycle.conftest import run_command, url_of
from worker.database.private_server import PrivateServer
from worker.database_settings import DatabaseSettings
from worker.supervisor.run_lock import RunLock


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a private server of its own, which is stopped in the end."""
    folder = tmp_path_factory.mktemp("private")
    yield folder
    PrivateServer(folder / "state" / "mysql").kill()


@pytest.fixture
def cli(home):
    return partial(run_command, home)


def test_the_private_server_is_started_looked_at_and_stopped(cli, home):
    before = cli("db", "status")
    started = cli("db", "start")
    running = json.loads(cli("db", "status", "--json").stdout)
    stopped = cli("db", "stop")
    again = cli("db", "stop")

    assert "start it: launcher.py db start" in before.stdout
    assert started.stdout.startswith("the private server is running, socket ")
    assert running["status"].startswith("answers, version ")
    assert stopped.stdout == "the private server is stopped\n"
    assert again.stdout == "the private server was not running\n"
    assert {done.returncode for done in (before, started, stopped, again)} == {0}
    assert not PrivateServer(home / "state" / "mysql").is_running()


def test_a_server_stopped_by_hand_stays_so_and_its_status_says_how_to_start_it(cli, home):
    assert cli("db", "start").returncode == 0
    server = PrivateServer(home / "state" / "mysql")
    server.kill()
    # There is nothing to stop, but a pool that misses it must leave it alone.
    assert cli("db", "stop").returncode == 0

    assert not server.revive()
    assert "was stopped; start it: launcher.py db start" in cli("db", "status").stdout


def test_a_server_with_a_run_at_work_is_stopped_only_by_force(cli, home):
    assert cli("db", "start").returncode == 0
    server = PrivateServer(home / "state" / "mysql")
    settings = DatabaseSettings(unix_socket=str(server.socket_path))
    lock = RunLock(home / "state", settings)
    assert lock.try_acquire()
    try:
        refused = cli("db", "stop")

        assert refused.returncode == 2
        assert f"the run with pid {os.getpid()}, started" in refused.stderr
        assert "end the run first, or use --force" in refused.stderr
        assert server.is_running()
        assert cli("db", "stop", "--force").returncode == 0
    finally:
        lock.release()
    assert not server.is_running()


def test_a_command_starts_the_private_server_by_itself_and_leaves_it_running(cli, home):
    assert cli("enqueue", "https://example.com/").returncode == 0
    assert PrivateServer(home / "state" / "mysql").is_running()

    counted = cli("db", "shell", stdin="SELECT COUNT(*) AS jobs FROM work_queue;\n")

    assert counted.stdout.split() == ["jobs", "1"]
    assert cli("db", "stop").returncode == 0
    # What was queued survives the server's restart.
    assert cli("status").stdout.startswith("1 job: 1 pending")
    assert cli("db", "stop").returncode == 0


def test_a_shell_goes_on_after_a_statement_that_fails(cli):
    done = cli("db", "shell", stdin="SELECT nonsense;\nSELECT 1 + 1 AS two;\n")
    cli("db", "stop")

    assert "nonsense" in done.stderr


def test_a_server_of_ones_own_is_never_started_or_stopped(settings, tmp_path):
    for word in ("start", "stop"):
        done = run_command(tmp_path, "db", word, DATABASE_URL=url_of(settings))

        assert (done.returncode, done.stdout) == (2, "")
        assert "names a server of your own" in done.stderr


def test_the_status_of_a_server_of_ones_own_is_asked_over_its_connection(settings, tmp_path):
    done = run_command(tmp_path, "db", "status", DATABASE_URL=url_of(settings))

    assert done.returncode == 0
    assert f"root@{settings.unix_socket}/nightshift_test: answers, version " in done.stdout


def test_a_folder_that_cannot_hold_a_server_is_named(tmp_path):
    (tmp_path / "state").touch()

    done = run_command(tmp_path, "db", "start")

    assert done.returncode == 69
    assert str(tmp_path / "state") in done.stderr
    assert len(done.stderr.splitlines()) == 1
