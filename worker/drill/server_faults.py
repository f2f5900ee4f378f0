"""Faults of the database server: gone, full, picky, or in the way. Each is undone at its end."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress

from worker.database.client import Database, DatabaseError, Transaction
from worker.drill.strike import NoTarget, Strike
from worker.drill.world import HOSTS, USER
from worker.errors import DatabaseUnavailable

# Whatever happens to the server meanwhile, what was done to it is undone.
UNDO_SECONDS = 60.0
UNDO_AGAIN_SECONDS = 0.5
# Jobs are short: one that was seen in progress may have ended before it is locked.
LOCK_TRIES = 50
KILL_SECONDS = 0.02
FULL_TABLES = (
    ("work_queue", "UPDATE"),
    ("job_attempts", "INSERT"),
    ("runs", "UPDATE"),
    ("workers", "INSERT"),
)


def restart_database(strike: Strike) -> None:
    strike.begin()
    strike.scratch.server.restart()


def kill_database(strike: Strike) -> None:
    strike.begin()
    strike.scratch.server.kill()
    strike.scratch.server.start()


def take_database_away(strike: Strike) -> None:
    strike.begin()
    strike.scratch.server.stop()
    strike.last(3, 10)
    strike.scratch.server.start()


def kill_connection(strike: Strike) -> None:
    """Have the server end one of the pool's connections, in whatever statement it is."""
    with _server(strike) as db:
        found = [int(row["id"]) for row in db.fetch_all("drill_connections", user=USER)]
        if not found:
            raise NoTarget
        strike.begin()
        _kill(db, f"KILL {strike.rng.choice(found)}")


def kill_queries(strike: Strike) -> None:
    """End statements of the pool again and again, as a person or a watchdog would."""
    with _server(strike) as db:
        until = time.monotonic() + strike.rng.uniform(1, 2)
        while time.monotonic() < until:
            found = [int(row["id"]) for row in db.fetch_all("drill_statements", user=USER)]
            if found and not strike.struck_at:
                strike.begin()
            for each in strike.rng.sample(found, min(len(found), strike.rng.randint(1, 3))):
                _kill(db, f"KILL QUERY {each}")
            if strike.is_over.wait(KILL_SECONDS):
                break
    if not strike.struck_at:
        raise NoTarget


def exhaust_connections(strike: Strike) -> None:
    """Allow the pool's user one connection, and end all it has."""
    with _undone(strike, *_limits(0)), _server(strike) as db:
        strike.begin()
        for statement in _limits(1):
            db.run_statement(statement)
        for row in db.fetch_all("drill_connections", user=USER):
            _kill(db, f"KILL {row['id']}")
        strike.last(3, 10)


def go_offline(strike: Strike) -> None:
    """Throw all users out but administrators; MariaDB, which cannot, takes no writes instead."""
    variable = "read_only" if "MariaDB" in strike.scratch.version else "offline_mode"
    with _undone(strike, f"SET GLOBAL {variable} = OFF"), _server(strike) as db:
        strike.begin()
        db.run_statement(f"SET GLOBAL {variable} = ON")
        strike.last(3, 10)


def fill_disk(strike: Strike) -> None:
    """Refuse what the pool writes as a server does whose disk is full."""
    room = [f"DROP TRIGGER IF EXISTS full_{table}" for table, _ in FULL_TABLES]
    with _undone(strike, *room), _server(strike) as db:
        strike.begin()
        for table, change in FULL_TABLES:
            db.run_statement(
                f"CREATE TRIGGER full_{table} BEFORE {change} ON {table} FOR EACH ROW "
                f"SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1114, "
                f"MESSAGE_TEXT = 'The table ''{table}'' is full'"
            )
        strike.last(5, 15)


def lock_row(strike: Strike) -> None:
    """Lock the row of a job in progress; the other jobs have to go on."""

    def hold(tx: Transaction) -> None:
        tx.discard()
        if strike.struck_at:
            # The server has gone, and with it the lock.
            return
        for row in tx.fetch_all("drill_jobs_in_progress", limit=LOCK_TRIES):
            if tx.fetch_all("lock_drill_job", id=row["id"]):
                strike.begin()
                strike.last(20, 60)
                return
        raise NoTarget

    with _server(strike) as db:
        db.transaction(hold)


@contextmanager
def _undone(strike: Strike, *statements: str) -> Iterator[None]:
    """Run statements at the end of a fault that has struck, whatever has become of the server."""
    try:
        yield
    finally:
        deadline = time.monotonic() + UNDO_SECONDS
        while strike.struck_at:
            try:
                with closing(Database(strike.scratch.database)) as db:
                    for statement in statements:
                        db.run_statement(statement)
                break
            except DatabaseUnavailable:
                if time.monotonic() > deadline:
                    raise
                time.sleep(UNDO_AGAIN_SECONDS)


@contextmanager
def _server(strike: Strike) -> Iterator[Database]:
    """Give a connection that no proxy and no limit of the pool's user touches.

    A server that cannot be reached at the beginning is no target; one that another fault takes
    away in the middle ends this one.
    """
    with closing(Database(strike.scratch.database, read_timeout_seconds=10.0)) as db:
        try:
            db.ping()
            yield db
        except DatabaseUnavailable:
            if not strike.struck_at:
                raise NoTarget from None


def _limits(most: int) -> list[str]:
    return [f"ALTER USER '{USER}'@'{host}' WITH MAX_USER_CONNECTIONS {most}" for host in HOSTS]


def _kill(db: Database, statement: str) -> None:
    # It may have ended by itself in the meantime.
    with suppress(DatabaseError, DatabaseUnavailable):
        db.run_statement(statement)
