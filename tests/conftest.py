"""One real server for the whole run, and a fresh database on it for every test that asks."""

from __future__ import annotations

import atexit
import itertools
import json
import os
import shutil
import signal
import socket
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from typing import Any

import hypothesis
import pymysql
import pytest
from pymysql import Connection
from pytest_mysql import factories

from tests.files_in_memory import keep_files_in_memory
from tests.schema_copy import SchemaCopy
from worker.claiming.candidates import Candidates
from worker.database import migrations
from worker.database.client import Database
from worker.database.private_server import PrivateServer
from worker.database_settings import DatabaseSettings
from worker.errors import RowsLocked
from worker.intake.bulk import add_many
from worker.models import Cause, Claim, Ending, Outcome, Owner, Partition, Status
from worker.queue.claims import Queue

# A machine that is busy with browsers makes any example slow once in a while: that is no failure.
hypothesis.settings.register_profile(
    "nightshift", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("nightshift")

# Under nohup, or in the background of a shell, tests would start programs that cannot hear these.
for number in (signal.SIGHUP, signal.SIGINT):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(
            number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
        )

keep_files_in_memory()

# Otherwise each of the hundreds of launchers would compile Nightshift anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Survives a killed server, not a power cut: tests kill servers, and commits and tables cost less.
FAST_COMMITS = (
    "--innodb-flush-log-at-trx-commit=2",
    "--innodb-doublewrite=OFF",
    "--innodb-flush-method=nosync",
)


class ServerForTests(PrivateServer):
    """The private server in the shape that pytest-mysql's client fixture expects."""

    user = "root"
    host = "127.0.0.1"

    @property
    def unixsocket(self) -> str:
        return str(self.socket_path)

    def running(self) -> bool:
        return self.is_running()


@contextmanager
def reserved_port() -> Iterator[int]:
    """A port of 127.0.0.1 that nobody else is given: bound here, and refusing connections.

    A server that sets SO_REUSEADDR, as all of ours do, may listen on it, end and come back; a port
    that was only found free could be another process's by then.
    """
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("127.0.0.1", 0))
        yield int(holder.getsockname()[1])


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port where nobody listens, for as long as the test lasts."""
    with reserved_port() as port:
        yield port


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerForTests]:
    """A server on a socket and on 127.0.0.1; NIGHTSHIFT_MYSQLD says which program it runs."""
    with reserved_port() as port:
        server = ServerForTests(
            tmp_path_factory.mktemp("mysql"), port=port, extra_args=FAST_COMMITS
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


@pytest.fixture
def settings(server: ServerForTests, mysql: Connection[Any]) -> DatabaseSettings:
    """Where this test's own, empty database is."""
    return DatabaseSettings(database="nightshift_test", unix_socket=server.unixsocket)


@pytest.fixture(scope="session")
def schema(server: ServerForTests) -> SchemaCopy:
    """What migrations come to, taken from a database that they have made."""
    name = "nightshift_schema"
    connection = pymysql.connect(unix_socket=server.unixsocket, user=server.user)
    with closing(connection), connection.cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {name} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")
        with closing(
            Database(DatabaseSettings(database=name, unix_socket=server.unixsocket))
        ) as db:
            migrations.migrate(db)
        connection.select_db(name)
        copy = SchemaCopy.of(connection)
        cursor.execute(f"DROP DATABASE {name}")
    return copy


@pytest.fixture
def database(settings: DatabaseSettings, schema: SchemaCopy) -> Iterator[Database]:
    """A connection to this test's database, with the schema in place."""
    with closing(Database(settings)) as db:
        schema.make(db)
        yield db


Why = dict[str, Any]


def because(
    reason: str,
    last_error: str | None = None,
    fingerprint: str | None = None,
    evidence: str | None = None,
    last_step: str | None = None,
    label: str | None = None,
    cause: Cause | None = None,
) -> Why:
    """Say why a job failed, in the words that an ending takes."""
    return dict(locals())


def hold(claim: Claim) -> tuple[int, int, int]:
    """What proves a claim when it is renewed."""
    assert claim.incarnation is not None
    return claim.job_id, claim.fence, claim.incarnation


class QueueForTests(Queue):
    """The queue, with the short ways in and to a claim that tests want."""

    def enqueue(
        self, task: str, payload: Any, *, delay_seconds: float | None = None, **columns: Any
    ) -> int:
        """Add one job and return its id."""
        row: dict[str, Any] = {
            "queue": "default",
            "batch": None,
            "priority": 0,
            "not_before": None,
            "max_attempts": None,
            "timeout_seconds": None,
            "dedupe_key": None,
            "dedupe_across_tasks": False,
            "callback_url": None,
            "profile_id": None,
            "account_id": None,
            "order_key": None,
            "order_on_failure": None,
        }
        if delay_seconds is not None:
            now = self._db.fetch_all("database_time")[0]["now"]
            row["not_before"] = now + timedelta(seconds=delay_seconds)
        return self._db.insert(
            "enqueue_one", **(row | columns | {"task": task, "payload": json.dumps(payload)})
        )

    def enqueue_many(self, task: str, payloads: Iterable[Any]) -> int:
        """Add many jobs of one task."""
        return add_many(self._db, task, payloads)

    def complete(self, claim: Claim, result: Any) -> Status:
        return self._ended(claim, Ending(Outcome.DONE, result=json.dumps(result)))

    def fail(self, claim: Claim, why: Why, outcome: Outcome = Outcome.ERROR) -> Status:
        return self._ended(claim, Ending(outcome, **why))

    def retry(
        self,
        claim: Claim,
        why: Why,
        *,
        delay_seconds: float | None,
        outcome: Outcome = Outcome.RETRY,
    ) -> Status:
        return self._ended(claim, Ending(outcome, delay_seconds=delay_seconds, **why))

    def block(
        self, claim: Claim, why: Why, delay: float | None, budget: int | None = None
    ) -> Status:
        ending = Ending(Outcome.BLOCKED, delay_seconds=delay, max_blocks=budget, **why)
        return self._ended(claim, ending)

    def crash(self, claim: Claim, why: Why, *, delay_seconds: float | None) -> Status:
        return self._ended(claim, Ending(Outcome.CRASHED, delay_seconds=delay_seconds, **why))

    def hand_back(self, claim: Claim, why: Why, *, delay_seconds: float | None = None) -> Status:
        return self._ended(claim, Ending(Outcome.HANDED_BACK, delay_seconds=delay_seconds, **why))

    def _ended(self, claim: Claim, ending: Ending) -> Status:
        return self.end(claim, ending).status

    def claim(self, owner: Owner, candidates: Candidates) -> Claim | None:
        """Claim the next job that needs no permission, as a worker would."""
        while (candidate := candidates.next()) is not None:
            try:
                claim = self.take(owner, candidate)
            except RowsLocked:
                candidates.avoid(candidate)
                continue
            if claim is not None:
                return claim
        return None


@pytest.fixture
def queue(database: Database) -> QueueForTests:
    """The queue of this test's database."""
    return QueueForTests(database)


@pytest.fixture
def claim_as(database: Database, queue: QueueForTests) -> Callable[..., Claim | None]:
    """Claim as the worker of a slot; every call is a new incarnation unless one is named."""
    incarnations = itertools.count(1000)

    def claim(
        slot: int = 0, total: int = 1, *, incarnation: int | None = None, help_others: bool = True
    ) -> Claim | None:
        owner = Owner(slot, incarnation if incarnation is not None else next(incarnations))
        candidates = Candidates(database, Partition(slot, total), help_others=help_others)
        return queue.claim(owner, candidates)

    return claim


@pytest.fixture
def expire(database: Database) -> Callable[[Claim], None]:
    """Let a claim's lease run out, as if its worker had vanished long ago."""

    def expire(claim: Claim) -> None:
        database.run_statement(
            "UPDATE work_queue SET lease_until = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND "
            "WHERE id = %(id)s",
            {"id": claim.job_id},
        )

    return expire
