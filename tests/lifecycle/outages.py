"""A server of a test's own, and all the ways in which it goes away and comes back."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass

import pymysql
import pytest

from worker.database.private_server import PrivateServer
from worker.drill.proxy import Proxy

NAME = "nightshift_away"


@dataclass(frozen=True)
class Place:
    """A database that can be made to go away, and the ways to it."""

    server: PrivateServer
    proxy: Proxy

    def connect(self, user: str = "root") -> pymysql.Connection:
        return pymysql.connect(unix_socket=str(self.server.socket_path), user=user)

    def run(self, *statements: str) -> None:
        with closing(self.connect()) as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)

    @property
    def url(self) -> str:
        """What a user without special rights would be given."""
        return f"mysql://pool@127.0.0.1:{self.proxy.port}/{NAME}"


@contextmanager
def stopped(place: Place) -> Iterator[None]:
    place.server.stop()
    yield
    place.server.start()


@contextmanager
def killed(place: Place) -> Iterator[None]:
    place.server.kill()
    yield
    place.server.start()


@contextmanager
def half_open(place: Place) -> Iterator[None]:
    place.proxy.go_half_open(1.0, random.Random(0))
    yield
    place.proxy.take_new()


@contextmanager
def full(place: Place) -> Iterator[None]:
    """More connections than are allowed, and the pool's own have just been broken."""
    with ExitStack() as stack:
        for _ in range(12):
            stack.enter_context(closing(place.connect("pool")))
        # No new connection would be let in to lift the limit again: this one stays.
        admin = stack.enter_context(closing(place.connect())).cursor()
        admin.execute("SET GLOBAL max_connections = 10")
        place.proxy.reset()
        try:
            yield
        finally:
            admin.execute("SET GLOBAL max_connections = 151")


@contextmanager
def read_only(place: Place) -> Iterator[None]:
    place.run("SET GLOBAL read_only = ON")
    try:
        yield
    finally:
        place.run("SET GLOBAL read_only = OFF")


@contextmanager
def disk_full(place: Place) -> Iterator[None]:
    """Whatever changes a job is refused as it would be on a full disk."""
    place.run(
        f"CREATE TRIGGER {NAME}.full BEFORE UPDATE ON {NAME}.work_queue FOR EACH ROW "
        "SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1114, MESSAGE_TEXT = 'The table is full'"
    )
    yield
    place.run(f"DROP TRIGGER {NAME}.full")


@contextmanager
def too_many_of_the_user(place: Place) -> Iterator[None]:
    """The pool's own connections are broken, and its user is allowed but one, which is taken."""
    place.run("ALTER USER pool@localhost, pool@'127.0.0.1' WITH MAX_USER_CONNECTIONS 1")
    with closing(pymysql.connect(host="127.0.0.1", port=place.server.port, user="pool")):
        place.proxy.reset()
        yield
    place.run("ALTER USER pool@localhost, pool@'127.0.0.1' WITH MAX_USER_CONNECTIONS 0")


@contextmanager
def offline(place: Place) -> Iterator[None]:
    if place.server.status().flavour != "mysql":
        pytest.skip("only MySQL has an offline mode")
    place.run("SET GLOBAL offline_mode = ON")
    yield
    place.run("SET GLOBAL offline_mode = OFF")
