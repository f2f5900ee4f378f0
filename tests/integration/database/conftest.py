"""Connections that cannot work, what a session is set to, and private servers of a test's own."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pymysql
import pytest

from worker.database.private_server import PrivateServer
from worker.database_settings import DatabaseSettings
from worker.errors import DatabaseUnavailable

REPO = Path(__file__).parents[3]
WANTED_SESSION = {
    "zone": "+00:00",
    "lock_wait": 5,
    "client": "utf8mb4",
    "results": "utf8mb4",
    "isolation": "READ-COMMITTED",
}


def refusal(db, kind=DatabaseUnavailable):
    """Use a connection that cannot work; return the one line it is refused with."""
    with closing(db), pytest.raises(kind) as caught:
        db.fetch_one("count_unfinished")
    text = str(caught.value)
    assert "\n" not in text
    assert text == text.strip()
    return text


def over_tcp(server, **changes):
    return DatabaseSettings(host="127.0.0.1", port=server.port, database="mysql", **changes)


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


def wait_for(condition: Callable[[], object], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.005)


def session(db):
    (row,) = db.run_statement(
        "SELECT @@session.time_zone AS zone, @@innodb_lock_wait_timeout AS lock_wait, "
        "@@character_set_client AS client, @@character_set_results AS results"
    )
    # Its name differs between the two families, and newer MariaDBs know both.
    isolation = db.run_statement(
        "SHOW VARIABLES WHERE Variable_name IN ('transaction_isolation', 'tx_isolation')"
    )
    return {**row, "isolation": isolation[0]["Value"]}


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
