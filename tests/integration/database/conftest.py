"""Connections that cannot work, and the one line they are refused with."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pymysql
import pytest

from worker.database.private_server import PrivateServer
from worker.database_settings import DatabaseSettings
from worker.errors import (
    DatabaseUnavailable,
)


def refusal(db, kind=DatabaseUnavailable):
    """Use a connection that cannot work; return the one line it is refused with."""
    with closing(db), pytest.raises(kind) as caught:
        db.fetch_one("outlook")
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
