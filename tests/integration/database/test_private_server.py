"""The private server: started once, durable, reached by its owner alone, clear about trouble."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pymysql
import pytest

from tests.integration.database.conftest import REPO, ask, processes_using, wait_for
from worker.database.private_server import PrivateServer
from worker.database.server_binary import MARKS, find_server
from worker.errors import DatabaseUnavailable

START = (
    "import sys; from pathlib import Path; "
    "from worker.database.private_server import PrivateServer; "
    "PrivateServer(Path(sys.argv[1])).start(); print('started')"
)


def begin_start(folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", START, folder],
        cwd=REPO,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        text=True,
    )


def test_it_starts_answers_and_stops(own: PrivateServer) -> None:
    own.start()
    assert own.status().answers
    assert ask(own, "SELECT 1") == (1,)

    own.stop()
    assert not own.is_running()
    assert processes_using(own.data_path) == []


def test_starting_it_again_keeps_the_running_server(own: PrivateServer) -> None:
    own.start()
    pid = own.pid()
    own.start()
    assert own.pid() == pid


def test_a_restart_gives_a_new_process_with_the_same_data(own: PrivateServer) -> None:
    own.start()
    pid = own.pid()
    ask(own, "CREATE DATABASE IF NOT EXISTS kept")
    own.restart()
    assert own.pid() not in (None, pid)
    assert ask(own, "SHOW DATABASES LIKE 'kept'") == ("kept",)


def test_stopping_what_does_not_run_does_nothing(own: PrivateServer, tmp_path: Path) -> None:
    own.stop()
    own.stop()
    nowhere = PrivateServer(tmp_path / "nowhere")
    nowhere.stop()
    assert not nowhere.folder.exists()


def test_what_was_committed_survives_a_kill(own: PrivateServer) -> None:
    own.start()
    ask(own, "CREATE TABLE IF NOT EXISTS mysql.committed (n INT PRIMARY KEY) ENGINE=InnoDB")
    with pymysql.connect(unix_socket=str(own.socket_path), user="root") as connection:
        connection.cursor().execute("REPLACE INTO mysql.committed VALUES (42)")
        connection.commit()
        own.kill()

    own.start()

    assert ask(own, "SELECT n FROM mysql.committed") == (42,)


def test_it_is_durable_and_speaks_utf8mb4_in_utc(own: PrivateServer) -> None:
    own.start()
    answer = ask(
        own,
        "SELECT @@innodb_flush_log_at_trx_commit, @@character_set_server,"
        " TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(), NOW()), @@log_bin",
    )
    assert answer == (1, "utf8mb4", 0, 0)


def test_only_its_owner_can_reach_it(own: PrivateServer) -> None:
    own.start()
    assert ask(own, "SELECT @@skip_networking") == (1,)
    assert own.socket_path.parent.stat().st_mode & 0o077 == 0


def test_processes_that_start_it_at_once_get_one_server(fresh: PrivateServer) -> None:
    starters = [begin_start(fresh.folder) for _ in range(4)]
    outputs = [starter.communicate(timeout=100)[0] for starter in starters]
    assert outputs == ["started\n"] * 4
    assert len(processes_using(fresh.data_path)) == 1


def test_it_outlives_its_starter_and_frees_its_output(own: PrivateServer) -> None:
    own.stop()
    starter = begin_start(own.folder)
    # Reading to the end would block for ever if the server had inherited the pipe.
    output, _ = starter.communicate(timeout=60)
    with pytest.raises(ProcessLookupError):
        os.killpg(starter.pid, signal.SIGKILL)
    assert output == "started\n"
    assert own.status().answers


def test_a_pid_file_with_a_reused_pid_is_not_believed(own: PrivateServer) -> None:
    own.start()
    own.kill()
    with subprocess.Popen(["sleep", "60"]) as bystander:
        try:
            (own.folder / "server.pid").write_text(str(bystander.pid))
            Path(f"{own.socket_path}.lock").write_text(str(bystander.pid))
            assert not own.is_running()
            own.kill()
            assert bystander.poll() is None
            own.start()
            assert own.pid() != bystander.pid
        finally:
            bystander.kill()


def test_a_lost_pid_file_does_not_hide_the_server(own: PrivateServer) -> None:
    own.start()
    pid = own.pid()
    (own.folder / "server.pid").unlink()
    assert own.pid() == pid
    own.stop()
    assert processes_using(own.data_path) == []


def test_an_initialisation_killed_midway_is_redone(fresh: PrivateServer) -> None:
    fresh.folder.mkdir()
    starter = begin_start(fresh.folder)
    wait_for(lambda: list(fresh.folder.glob("data*/*")))
    os.killpg(starter.pid, signal.SIGKILL)
    starter.communicate()
    for pid in processes_using(fresh.folder):
        os.kill(pid, signal.SIGKILL)
    wait_for(lambda: not processes_using(fresh.folder))

    fresh.start()

    assert ask(fresh, "SELECT 1") == (1,)
    assert list(fresh.folder.glob("data.partial-*")) == []


def test_a_folder_with_a_long_path_gets_a_short_socket(tmp_path: Path) -> None:
    server = PrivateServer(tmp_path / ("long" * 30) / "mysql")
    try:
        server.start()
        assert len(os.fsencode(server.socket_path)) <= 107
        assert server.socket_path.parent.stat().st_mode & 0o077 == 0
        assert ask(server, "SELECT 1") == (1,)
        assert (server.folder / "mysql.sock").resolve() == server.socket_path
    finally:
        server.stop()
        server.socket_path.parent.rmdir()


def test_a_server_that_cannot_start_says_why(ready_folder: Path, own: PrivateServer) -> None:
    own.start()
    own.stop()
    broken = PrivateServer(ready_folder, extra_args=["--no-such-option=1"])
    with pytest.raises(DatabaseUnavailable, match="no-such-option") as caught:
        broken.start()
    assert str(ready_folder) in str(caught.value)


def test_data_of_the_other_flavour_is_refused_with_the_way_out(tmp_path: Path) -> None:
    other = next(name for name in MARKS if name != find_server().flavour)
    server = PrivateServer(tmp_path)
    server.data_path.mkdir()
    (server.data_path / MARKS[other]).touch()
    with pytest.raises(DatabaseUnavailable, match=f"made by {other}.*remove {tmp_path}"):
        server.start()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DatabaseUnavailable, match=f"{tmp_path}/file/mysql"):
        PrivateServer(tmp_path / "file" / "mysql").start()


def test_every_test_gets_a_fresh_database(mysql: pymysql.Connection[Any]) -> None:
    with mysql.cursor() as cursor:
        cursor.execute("SHOW TABLES")
        assert cursor.fetchall() == ()
        cursor.execute("SELECT @@character_set_database, @@collation_database")
        assert cursor.fetchone() == ("utf8mb4", "utf8mb4_bin")
