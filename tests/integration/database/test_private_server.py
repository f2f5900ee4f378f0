from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pymysql
import pytest

from worker.database import server_binary
from worker.database.client import Database
from worker.database.private_server import PrivateServer, PrivateSettings
from worker.database.server_binary import MARKS, find_server
from worker.errors import DatabaseUnavailable

REPO = Path(__file__).parents[3]
START = (
    "import sys; from pathlib import Path; "
    "from worker.database.private_server import PrivateServer; "
    "PrivateServer(Path(sys.argv[1])).start(); print('started')"
)

REVIVE = (
    "import sys; from pathlib import Path; "
    "from worker.database.private_server import PrivateServer; "
    "print(PrivateServer(Path(sys.argv[1])).revive())"
)


@pytest.fixture(scope="module")
def ready_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder whose data is made already: only the first of the tests below pays for it."""
    folder = tmp_path_factory.mktemp("private")
    yield folder
    PrivateServer(folder).kill()


@pytest.fixture
def own(ready_folder: Path) -> Iterator[PrivateServer]:
    server = PrivateServer(ready_folder)
    yield server
    server.kill()


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[PrivateServer]:
    server = PrivateServer(tmp_path / "mysql")
    yield server
    server.kill()


def ask(server: PrivateServer, query: str) -> tuple[Any, ...]:
    with (
        pymysql.connect(unix_socket=str(server.socket_path), user="root") as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute(query)
        return cursor.fetchone() or ()


def begin_start(folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", START, folder],
        cwd=REPO,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        text=True,
    )


def wait_for(condition: Callable[[], object], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.005)


def processes_using(folder: Path) -> list[int]:
    needle = b"--datadir=" + os.fsencode(folder)
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and needle in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


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


def test_a_missing_server_program_is_told_with_its_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NIGHTSHIFT_MYSQLD", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(server_binary, "SYSTEM_FOLDERS", str(tmp_path))
    with pytest.raises(DatabaseUnavailable, match=r"make setup.*default-mysql-server-core"):
        PrivateServer(tmp_path / "mysql").start()


def test_a_program_that_does_not_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(DatabaseUnavailable, match=f"{tmp_path}/absent does not run"):
        PrivateServer(tmp_path / "mysql", binary=tmp_path / "absent").start()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DatabaseUnavailable, match=f"{tmp_path}/file/mysql"):
        PrivateServer(tmp_path / "file" / "mysql").start()


def begin_revival(folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", REVIVE, folder], cwd=REPO, stdout=subprocess.PIPE, text=True
    )


def let_it_be_revived(server: PrivateServer) -> None:
    """Forget that it was started again a moment ago."""
    (server.folder / "revived").unlink(missing_ok=True)


def test_a_killed_server_is_started_again_by_one_of_those_who_miss_it(own: PrivateServer) -> None:
    own.start()
    let_it_be_revived(own)
    own.kill()

    starters = [begin_revival(own.folder) for _ in range(4)]
    outputs = sorted(starter.communicate(timeout=60)[0] for starter in starters)

    assert outputs == ["False\n"] * 3 + ["True\n"]
    wait_for(lambda: own.status().answers)
    assert len(processes_using(own.data_path)) == 1


def test_a_server_that_was_stopped_is_not_started_again_by_those_who_miss_it(
    own: PrivateServer,
) -> None:
    own.start()
    let_it_be_revived(own)
    own.stop()

    assert not own.revive()
    assert not own.is_running()
    assert "was stopped; start it: python launcher.py db start" in own.absence("")


def test_a_server_that_dies_of_its_start_is_not_started_again_and_again(own: PrivateServer) -> None:
    own.start()
    let_it_be_revived(own)
    own.kill()
    assert own.revive()
    own.kill()

    assert not own.revive()
    assert not own.is_running()


def test_a_client_that_waits_starts_its_killed_server_by_itself(own: PrivateServer) -> None:
    own.start()
    let_it_be_revived(own)
    settings = PrivateSettings(
        database="", unix_socket=str(own.socket_path), server_folder=own.folder
    )
    with closing(Database(settings, patience_seconds=60)) as db:
        db.ping()
        own.kill()
        db.ping()
    assert own.status().answers


def test_a_client_of_a_stopped_server_says_how_to_start_it(own: PrivateServer) -> None:
    own.start()
    own.stop()
    settings = PrivateSettings(unix_socket=str(own.socket_path), server_folder=own.folder)

    with pytest.raises(DatabaseUnavailable, match=r"was stopped; start it: .* db start"):
        Database(settings).ping()


def test_every_test_gets_a_fresh_database(mysql: pymysql.Connection[Any]) -> None:
    with mysql.cursor() as cursor:
        cursor.execute("SHOW TABLES")
        assert cursor.fetchall() == ()
        cursor.execute("SELECT @@character_set_database, @@collation_database")
        assert cursor.fetchone() == ("utf8mb4", "utf8mb4_bin")
