"""Statements over one connection that is opened again after every loss.

Every statement has a timeout. What is worth another try is tried again here, and only here, as long
as `retrying` says. Callers must be repeatable for that.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import pymysql

from worker.database import membership, prepared, retrying
from worker.database.bulk_insert import BulkInsert
from worker.database.meanwhile import Meanwhile
from worker.database.membership import Membership
from worker.database.private_server import PrivateSettings
from worker.database.retrying import Retries, explanation, is_timeout, trouble_of
from worker.database.server_errors import Trouble
from worker.database.session import Connection, end_abandoned, lift_statement_limit, open_session
from worker.database.statements import fill, query
from worker.database.transaction import Row as Row
from worker.database.transaction import Transaction as Transaction
from worker.database_settings import DatabaseSettings
from worker.errors import DatabaseUnavailable, NightshiftError

DatabaseError = pymysql.Error
# How long a statement waits for a row that another transaction holds, each time it is tried.
LOCK_WAIT_SECONDS = 5
T = TypeVar("T")


class Database:
    """One connection, opened on first use and again after every loss.

    `patience_seconds` is how long an absent server is waited for; `keep_waiting`, asked before
    every further try, can end the wait sooner (a worker that has been told to stop).
    """

    def __init__(
        self,
        settings: DatabaseSettings,
        *,
        patience_seconds: float = 0.0,
        read_timeout_seconds: float = 15.0,
        lock_wait_seconds: int = LOCK_WAIT_SECONDS,
        keep_waiting: Callable[[], bool] = lambda: True,
    ) -> None:
        self.settings = settings
        self.patience_seconds = patience_seconds
        self._read_timeout = read_timeout_seconds
        self._lock_wait = lock_wait_seconds
        self.waits_for_locks = True
        self._keep_waiting = keep_waiting
        self._connection: Connection | None = None
        self._membership: Membership | None = None
        # The version that the server, or a proxy in its place, has greeted us with.
        self.greeting = ""

    @property
    def is_cluster(self) -> bool:
        """Whether this is a member of a cluster, whose locks hold on that member alone."""
        if self._membership is None:
            self.ping()
        return self._membership is not Membership.NONE

    def execute(self, name: str, /, **params: Any) -> int:
        """Run one named statement in its own transaction; return how many rows it changed."""
        # Without a cursor, whose housekeeping costs more than sending the statement does.
        return self._retried(lambda it: int(it.query(fill(query(name), params, it.escape))))

    def execute_prepared(self, name: str, /, **params: Any) -> int:
        """Run one as `execute` does, which the server keeps parsed: for what every job does."""
        return self._retried(lambda connection: prepared.run(connection, name, params))

    def fetch_all(self, name: str, /, conditions: tuple[str, ...] = (), **params: Any) -> list[Row]:
        """Run one named query, with further named conditions where it has room; return its rows."""

        def read(connection: Connection) -> list[Row]:
            with connection.cursor() as cursor:
                cursor.execute(query(name, conditions), params)
                return list(cursor.fetchall())

        return self._retried(read)

    def fetch_one(self, name: str, /, **params: Any) -> Row | None:
        """Run one named query; return its first row, if any."""
        return next(iter(self.fetch_all(name, **params)), None)

    def run_script(self, name: str, /, **params: Any) -> list[int]:
        """Run a script's transaction in one round trip; return each statement's row count.

        The first error ends the script, and what it had done is rolled back.
        """

        script = query(name)

        def run(connection: Connection) -> list[int]:
            # Begun in the same round trip: to switch autocommit off and on again takes two more.
            connection.query(f"START TRANSACTION;\n{fill(script, params, connection.escape)}")
            return [int(connection.next_result()) for _ in range(script.count(";") + 1)]

        return self._retried(run)

    def transaction(self, work: Callable[[Transaction], T]) -> T:
        """Run a function in one transaction and return what it returns.

        After a conflict, or when the server was away, it is run again from its beginning.
        """

        def run(connection: Connection) -> T:
            tx = Transaction(connection)
            result = work(tx)
            if tx.is_discarded:
                connection.rollback()
            else:
                connection.commit()
            return result

        return self._retried(run, autocommit=False)

    def insert(self, name: str, /, **params: Any) -> int:
        """Insert one row and return its id; not tried again once the server may have it."""

        def write(connection: Connection) -> int:
            with connection.cursor() as cursor:
                cursor.execute(query(name), params)
                return int(cursor.lastrowid or 0)

        self.ping()
        return self._once(write, tries=retrying.CONFLICT_TRIES)

    def insert_many(self, name: str, rows: Iterable[Mapping[str, Any]]) -> int:
        """Insert rows in bulk statements and one transaction: all of them, or none."""

        def write(connection: Connection) -> int:
            with connection.cursor() as cursor:
                cursor.execute("BEGIN")
                inserted = cursor.executemany(query(name), rows) or 0
                cursor.execute("COMMIT")
                return inserted

        self.ping()
        return self._once(write)

    @contextmanager
    def bulk_insert(
        self, name: str, /, first: tuple[str, Mapping[str, Any]] | None = None, **constants: Any
    ) -> Iterator[BulkInsert]:
        """Insert any number of rows in one transaction, committed when the block is left well.

        The query's VALUES group holds `%(name)s` for constants and `?` for the rows' own values.
        `first` is a named statement, with its values, that comes before the rows.
        """
        self.ping()
        assert self._connection is not None
        try:
            before = fill(query(first[0]), first[1], self._connection.escape) if first else ""
            with BulkInsert(self._connection, query(name), constants, before) as bulk:
                yield bulk
        except (pymysql.Error, OSError) as error:
            self._give_up(error)
            raise self._explained(error) from error
        except BaseException:
            # Closing rolls back, and does not wait for a server that is busy.
            self.close()
            raise

    def run_statement(self, sql: str, params: Mapping[str, Any] | None = None) -> list[Row]:
        """Run SQL that has no name: migrations, and what a person types."""

        def run(connection: Connection) -> list[Row]:
            with connection.cursor() as cursor:
                cursor.execute(sql, params)
                return list(cursor.fetchall())

        return self._once(run)

    def ping(self) -> None:
        """Make sure of a live connection; raises DatabaseUnavailable when there is none."""
        self._retried(lambda connection: connection.ping(reconnect=False))

    def lift_statement_limit(self) -> None:
        """Let the statements of this connection take as long as they need on the server."""
        self._once(lift_statement_limit)

    def patience(self, seconds: float) -> Meanwhile:
        """Wait for an absent server no longer than this, within the block."""
        return Meanwhile(self, "patience_seconds", seconds)

    def passing_locks(self) -> Meanwhile:
        """Within the block, raise RowsLocked after one wait for a row that another one holds."""
        return Meanwhile(self, "waits_for_locks", False)

    def catch_up(self) -> bool:
        """Wait until the server has all that its cluster had committed before.

        Returns False for a server of no known cluster: the next statement connects anew.
        """
        if not self.is_cluster:
            self.close()
            return False
        self._retried(membership.catch_up)
        return True

    def close(self) -> None:
        """Close the connection, whatever state it is in."""
        connection, self._connection = self._connection, None
        if connection is not None:
            try:
                connection.close()
            except pymysql.Error:
                pass

    def _retried(self, operation: Callable[[Connection], T], *, autocommit: bool = True) -> T:
        began, retries = time.monotonic(), None
        while True:
            try:
                return self._attempt(operation, autocommit=autocommit)
            except (pymysql.Error, OSError) as error:
                # Made for what has failed: nearly every statement does at once what it should.
                retries = retries or self.retries(began)
                pause = retries.pause_after(trouble_of(error), time.monotonic() - began)
                if pause is None:
                    raise self._explained(error) from error
            time.sleep(pause)
            began = time.monotonic()

    def retries(self, began: float) -> Retries:
        """The further tries of something that is repeated whole, and began at that time."""
        deadline = began + self.patience_seconds
        return Retries(deadline, self._keep_waiting, waits_for_locks=self.waits_for_locks)

    def _once(self, operation: Callable[[Connection], T], tries: int = 1) -> T:
        """Do it once; again only if it was undone for certain, and there are tries left."""
        while True:
            tries -= 1
            try:
                return self._attempt(operation)
            except (pymysql.Error, OSError) as error:
                if not tries or trouble_of(error) is not Trouble.CONFLICT:
                    raise self._explained(error) from error

    def _attempt(self, operation: Callable[[Connection], T], *, autocommit: bool = True) -> T:
        if self._connection is None:
            self._connection = self._open()
        try:
            # Switched only when it changes.
            if self._connection.get_autocommit() != autocommit:
                self._connection.autocommit(autocommit)
            return operation(self._connection)
        except BaseException as error:
            # A half-read answer or an open transaction must not meet the next statement. What we
            # refuse ourselves is refused between statements: named locks and all else may stay.
            is_refusal = isinstance(error, NightshiftError)
            is_answer = isinstance(error, pymysql.Error) and trouble_of(error) is not Trouble.AWAY
            if is_refusal or is_answer:
                self._roll_back()
            else:
                self._give_up(error)
            raise

    def _open(self) -> Connection:
        """Open a session that has all we have written before, on whatever member that was."""
        if isinstance(self.settings, PrivateSettings):
            self._membership = Membership.NONE
        try:
            connection = open_session(self.settings, self._read_timeout, self._lock_wait)
        except (ConnectionRefusedError, FileNotFoundError):
            if isinstance(self.settings, PrivateSettings):
                self.settings.server.revive()
            raise
        self._membership = membership.join(connection, self._membership)
        self.greeting = str(connection.get_server_info())  # type: ignore[no-untyped-call]
        return connection

    def _roll_back(self) -> None:
        try:
            assert self._connection is not None
            self._connection.rollback()
        except (pymysql.Error, OSError):
            self.close()

    def _give_up(self, error: BaseException) -> None:
        """Leave a connection behind, and on the server nothing that goes on without us."""
        connection = self._connection
        self.close()
        if connection is not None and is_timeout(error):
            thread_id = connection.thread_id()  # type: ignore[no-untyped-call]
            end_abandoned(self.settings, thread_id, self._read_timeout)

    def _explained(self, error: Exception) -> Exception:
        if isinstance(self.settings, PrivateSettings) and trouble_of(error) is Trouble.AWAY:
            server = self.settings.server
            if isinstance(error, OSError) or server.was_stopped or not server.is_running():
                return DatabaseUnavailable(server.absence(str(error)))
        return explanation(error, self.settings) or error
