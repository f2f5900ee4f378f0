"""One real server for the whole run, and a fresh database on it for every test that asks."""

from __future__ import annotations

import atexit
import shutil
import socket
from collections.abc import Iterator

import pytest
from pytest_mysql import factories

from worker.local_server import LocalServer

# Survives a killed server, not a power cut: tests kill servers, and a commit costs far less.
FAST_COMMITS = ("--innodb-flush-log-at-trx-commit=2", "--innodb-doublewrite=OFF")


class ServerForTests(LocalServer):
    """The private server in the shape that pytest-mysql's client fixture expects."""

    user = "root"
    host = "127.0.0.1"

    @property
    def unixsocket(self) -> str:
        return str(self.socket_path)

    def running(self) -> bool:
        return self.is_running()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerForTests]:
    """A server on a socket and on 127.0.0.1; NIGHTSHIFT_MYSQLD says which program it runs."""
    server = ServerForTests(
        tmp_path_factory.mktemp("mysql"), port=free_port(), extra_args=FAST_COMMITS
    )
    # The fixture's end is skipped when pytest itself is torn down hard; the exit hook is not.
    atexit.register(server.stop)
    server.start()
    yield server
    server.stop()
    atexit.unregister(server.stop)
    shutil.rmtree(server.folder)


mysql = factories.mysql(
    "server", passwd="", dbname="nightshift_test", charset="utf8mb4", collation="utf8mb4_bin"
)
