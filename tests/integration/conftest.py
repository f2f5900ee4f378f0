"""What tests of the database need beside a queue: connections, users, servers, bad lines."""

from __future__ import annotations

import json
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pymysql
import pytest

from tests.integration.standing_clock import Clock
from worker.claiming import candidates, closed_keys, impatient_jobs, ready_jobs, search_allowance
from worker.database.client import Database
from worker.database.private_server import PrivateServer
from worker.database.server_binary import find_server
from worker.database_settings import DatabaseSettings
from worker.history import archive
from worker.history.archive import Label

NO_TLS = {"mariadb": "--skip-ssl", "mysql": "--tls-version="}


@pytest.fixture
def connect(settings: DatabaseSettings) -> Iterator[Callable[..., Database]]:
    """Open further connections to this test's database; all are closed when it ends."""
    with ExitStack() as stack:

        def connect(changes: dict[str, Any] | None = None, **options: Any) -> Database:
            chosen = replace(settings, **(changes or {}))
            return stack.enter_context(closing(Database(chosen, **options)))

        yield connect


@pytest.fixture
def make_user(mysql: pymysql.Connection[Any]) -> Iterator[Callable[..., str]]:
    """Create a database user with a password and the rights named; it goes when the test ends."""
    made: list[str] = []

    def make_user(name: str, password: str, rights: str | None = "ALL") -> str:
        with mysql.cursor() as cursor:
            cursor.execute(f"CREATE USER {name}@localhost IDENTIFIED BY %s", [password])
            made.append(name)
            if rights:
                cursor.execute(f"GRANT {rights} ON nightshift_test.* TO {name}@localhost")
        return name

    yield make_user
    with mysql.cursor() as cursor:
        for name in made:
            cursor.execute(f"DROP USER {name}@localhost")


@pytest.fixture
def eventually() -> Callable[..., Any]:
    """Poll until something is true, and return it; fail when its time is over."""

    def eventually(condition: Callable[[], Any], seconds: float = 20.0) -> Any:
        deadline = time.monotonic() + seconds
        while not (value := condition()):
            assert time.monotonic() < deadline, "it did not happen in time"
            time.sleep(0.01)
        return value

    return eventually


@pytest.fixture
def lose_the_next_answer(monkeypatch: pytest.MonkeyPatch) -> Callable[[Database], None]:
    """Break a connection after the server has done its part, so that its answer never arrives."""

    def lose(db: Database) -> None:
        attempt = db._attempt

        def attempt_without_answer(operation: Callable[..., Any], **options: bool) -> Any:
            monkeypatch.setattr(db, "_attempt", attempt)
            attempt(operation, **options)
            db.close()
            raise pymysql.err.OperationalError(2013, "Lost connection to MySQL server during query")

        monkeypatch.setattr(db, "_attempt", attempt_without_answer)

    return lose


@pytest.fixture(scope="module")
def own_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder for a server that tests may kill; only the first start makes its data."""
    folder = tmp_path_factory.mktemp("own")
    yield folder
    PrivateServer(folder).kill()


@pytest.fixture
def own_server(own_folder: Path, closed_port: int) -> Iterator[PrivateServer]:
    """A server of the test's own, without TLS."""
    args = ["--innodb-flush-log-at-trx-commit=2", NO_TLS[find_server().flavour]]
    server = PrivateServer(own_folder, port=closed_port, extra_args=args)
    server.start()
    yield server
    server.kill()


@pytest.fixture
def tls_server(own_folder: Path, tmp_path: Path, closed_port: int) -> Iterator[PrivateServer]:
    """The same with TLS and a certificate for 127.0.0.1, which is its own authority."""
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=nightshift -addext"
    extension = "subjectAltName=IP:127.0.0.1"
    with suppress(FileNotFoundError):
        subprocess.run(
            [*command.split(), extension, "-out", certificate, "-keyout", key],
            check=True,
            capture_output=True,
        )
    if not key.exists():
        pytest.skip("no openssl to make a certificate with")
    args = [f"--ssl-cert={certificate}", f"--ssl-key={key}"]
    server = PrivateServer(own_folder, port=closed_port, extra_args=args)
    server.start()
    yield server
    server.kill()


class Proxy:
    """A way to the server that can go dead without a word, as a pulled cable does."""

    def __init__(self, target_port: int) -> None:
        self._target = ("127.0.0.1", target_port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._is_dead = threading.Event()
        self._sockets: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def go_dead(self) -> None:
        self._is_dead.set()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        for end in self._sockets:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(timeout=5)
        for end in (self._listener, *self._sockets):
            end.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near = self._listener.accept()[0]
                far = socket.create_connection(self._target)
                self._sockets += [near, far]
                for source, sink in ((near, far), (far, near)):
                    self._threads.append(threading.Thread(target=self._carry, args=(source, sink)))
                    self._threads[-1].start()

    def _carry(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if not self._is_dead.is_set():
                    sink.sendall(data)


@pytest.fixture
def proxy(server: PrivateServer) -> Iterator[Proxy]:
    """A way to the shared server that the test can let go dead."""
    assert server.port is not None
    with closing(Proxy(server.port)) as proxy:
        yield proxy


@pytest.fixture
def finish(database, queue):
    """Add a job that has ended, some seconds ago."""

    def finish(result, *, task="visit", status="done", ago=60.0, url="https://example.com/"):
        job = queue.enqueue(task, {"url": url})
        database.run_statement(
            "UPDATE work_queue SET status = %(status)s, result = %(result)s, attempts = 1,"
            " last_error = IF(%(status)s = 'error', 'it broke', NULL),"
            " finished_at = UTC_TIMESTAMP(6) - INTERVAL %(ago)s SECOND WHERE id = %(id)s",
            {
                "status": status,
                "result": None if result is None else json.dumps(result),
                "ago": ago,
                "id": job,
            },
        )
        return job

    return finish


@pytest.fixture
def put_away(database):
    """Move finished jobs to the archive, all or those named."""

    def put_away(*ids, db=database, statuses=("done", "error")):
        until = archive.now(db)
        wanted = ids or [row["id"] for row in db.run_statement("SELECT id FROM work_queue")]
        return archive.move(db, wanted, Label("me", "old"), until=until, statuses=statuses).jobs

    return put_away


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Let candidates and closures live by a clock of the test's own."""
    clock = Clock()
    for module in (candidates, closed_keys, impatient_jobs, ready_jobs, search_allowance):
        monkeypatch.setattr(module, "time", clock)
    return clock
