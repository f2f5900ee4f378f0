"""The connection to MySQL or MariaDB: the only module that knows pymysql.

Every statement has a timeout. Here, and only here, is decided which errors are worth another try:
conflicts at once, an absent server until patience ends. Whoever calls must be repeatable for that.
"""

from __future__ import annotations

import random
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeAlias, TypeVar

import pymysql
from pymysql.constants import CLIENT
from pymysql.cursors import DictCursor

from worker.database.bulk_insert import BulkInsert
from worker.database.server_errors import AWAY, CONFLICTS, explain
from worker.database.statements import query
from worker.database.tls import tls_context
from worker.database_settings import DatabaseSettings
from worker.errors import NightshiftError, SettingsError

Row = dict[str, Any]
Connection: TypeAlias = "pymysql.Connection[DictCursor]"
DatabaseError = pymysql.Error
T = TypeVar("T")

CONNECT_SECONDS = 5
_CONFLICT_TRIES = 20
_SESSION = (
    "SET time_zone = '+00:00', innodb_lock_wait_timeout = 5, "
    "sql_mode = 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'",
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
)


class Transaction:
    """Several statements that hold together; made by `Database.transaction`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.is_discarded = False

    def execute(self, name: str, /, **params: Any) -> int:
        """Run one named statement; return how many rows it changed."""
        with self._connection.cursor() as cursor:
            return cursor.execute(query(name), params)

    def fetch_all(self, name: str, /, **params: Any) -> list[Row]:
        """Run one named query; return its rows."""
        with self._connection.cursor() as cursor:
            cursor.execute(query(name), params)
            return list(cursor.fetchall())

    def discard(self) -> None:
        """Undo everything at the end, without calling that an error."""
        self.is_discarded = True


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
        keep_waiting: Callable[[], bool] = lambda: True,
    ) -> None:
        self.settings = settings
        self.patience_seconds = patience_seconds
        self._read_timeout = read_timeout_seconds
        self._keep_waiting = keep_waiting
        self._connection: Connection | None = None

    def execute(self, name: str, /, **params: Any) -> int:
        """Run one named statement in its own transaction; return how many rows it changed."""

        def write(connection: Connection) -> int:
            with connection.cursor() as cursor:
                return cursor.execute(query(name), params)

        return self._retried(write)

    def fetch_all(self, name: str, /, conditions: tuple[str, ...] = (), **params: Any) -> list[Row]:
        """Run one named query, with further named conditions where it has room; return its rows."""

        def read(connection: Connection) -> list[Row]:
            with connection.cursor() as cursor:
                cursor.execute(query(name, conditions), params)
                return list(cursor.fetchall())

        return self._retried(read)

    def fetch_one(self, name: str, /, **params: Any) -> Row | None:
        """Run one named query; return its first row, if any."""
        rows = self.fetch_all(name, **params)
        return rows[0] if rows else None

    def run_script(self, name: str, /, **params: Any) -> list[int]:
        """Run a script's transaction in one round trip; return each statement's row count.

        The first error ends the script, and what it had done is rolled back.
        """

        script = query(name)

        def run(connection: Connection) -> list[int]:
            # Without a cursor, whose housekeeping costs more than sending the script does.
            escape = connection.escape
            filled = script % {key: escape(value) for key, value in params.items()}
            counts = [int(connection.query(filled))]
            counts += [int(connection.next_result()) for _ in range(script.count(";"))]
            return counts

        return self._retried(run, autocommit=False)

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
        return self._once(write)

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
    def bulk_insert(self, name: str, /, **constants: Any) -> Iterator[BulkInsert]:
        """Insert any number of rows in one transaction, committed when the block is left well.

        The query's VALUES group holds `%(name)s` for constants and `?` for the rows' own values.
        """
        self.ping()
        assert self._connection is not None
        try:
            with BulkInsert(self._connection, query(name), constants) as bulk:
                yield bulk
        except (pymysql.Error, OSError) as error:
            self.close()
            raise _explained(error, self.settings) from error
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
        self._retried(lambda connection: connection.ping())

    @contextmanager
    def patience(self, seconds: float) -> Iterator[None]:
        """Wait for an absent server no longer than this, for a while."""
        usual, self.patience_seconds = self.patience_seconds, seconds
        try:
            yield
        finally:
            self.patience_seconds = usual

    def close(self) -> None:
        """Close the connection, whatever state it is in."""
        connection, self._connection = self._connection, None
        if connection is not None:
            try:
                connection.close()
            except pymysql.Error:
                pass

    def _retried(self, operation: Callable[[Connection], T], *, autocommit: bool = True) -> T:
        deadline = time.monotonic() + self.patience_seconds
        conflicts = 0
        delay = 0.05
        while True:
            try:
                return self._attempt(operation, autocommit=autocommit)
            except (pymysql.Error, OSError) as error:
                if _code(error) in CONFLICTS and conflicts < _CONFLICT_TRIES:
                    conflicts += 1
                    time.sleep(random.uniform(0.001, 0.02 * conflicts))
                    continue
                is_over = time.monotonic() >= deadline or not self._keep_waiting()
                if not _is_away(error) or is_over:
                    raise _explained(error, self.settings) from error
            time.sleep(random.uniform(delay / 2, delay))
            delay = min(delay * 2, 2.0)

    def _once(self, operation: Callable[[Connection], T]) -> T:
        try:
            return self._attempt(operation)
        except (pymysql.Error, OSError) as error:
            raise _explained(error, self.settings) from error

    def _attempt(self, operation: Callable[[Connection], T], *, autocommit: bool = True) -> T:
        if self._connection is None:
            try:
                self._connection = _connect(self.settings, self._read_timeout)
            except UnicodeError as error:
                # Such as `db..example`: Python refuses to look it up.
                raise SettingsError(f"{self.settings}: the host cannot be a name") from error
        try:
            # Switched only when it changes: a script in a row with others needs no BEGIN.
            if self._connection.get_autocommit() != autocommit:
                self._connection.autocommit(autocommit)
            return operation(self._connection)
        except BaseException as error:
            # A half-read answer or an open transaction must not meet the next statement. What we
            # refuse ourselves is refused between statements: named locks and all else may stay.
            is_refusal = isinstance(error, NightshiftError)
            if is_refusal or (isinstance(error, pymysql.Error) and not _is_away(error)):
                self._roll_back()
            else:
                self.close()
            raise

    def _roll_back(self) -> None:
        try:
            assert self._connection is not None
            self._connection.rollback()
        except (pymysql.Error, OSError):
            self.close()


def _connect(settings: DatabaseSettings, read_timeout_seconds: float) -> Connection:
    connection = pymysql.connect(
        user=settings.user,
        # As UTF-8, like every other client: PyMySQL would make it Latin-1, or fail to.
        password=settings.password.encode(),
        host=settings.host,
        port=settings.port,
        unix_socket=settings.unix_socket,
        database=settings.database or None,
        charset="utf8mb4",
        autocommit=True,
        connect_timeout=CONNECT_SECONDS,
        read_timeout=read_timeout_seconds,
        write_timeout=read_timeout_seconds,
        client_flag=CLIENT.MULTI_STATEMENTS,
        cursorclass=DictCursor,
        ssl=tls_context(settings),
        ssl_disabled=settings.ssl_mode == "disabled" or settings.unix_socket is not None,
        defer_connect=True,
    )
    if settings.unix_socket is None:
        connection.connect()
    else:
        # PyMySQL would leave a socket open at which nobody answered, until it is collected. Given
        # one, it has to be told that nobody listens in on it: MySQL asks for the password as it is.
        connection._secure = True  # type: ignore[attr-defined]  # noqa: SLF001
        connection.connect(_unix_socket(settings.unix_socket))
    with connection.cursor() as cursor:
        for statement in _SESSION:
            cursor.execute(statement)
    return connection


def _unix_socket(path: str) -> socket.socket:
    connected = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connected.settimeout(CONNECT_SECONDS)
        connected.connect(path)
    except BaseException:
        connected.close()
        raise
    return connected


def _code(error: BaseException) -> int | None:
    first = error.args[0] if error.args else None
    return first if isinstance(error, pymysql.Error) and isinstance(first, int) else None


def _is_away(error: BaseException) -> bool:
    return isinstance(error, OSError | pymysql.err.InterfaceError) or _code(error) in AWAY


def _explained(error: Exception, settings: DatabaseSettings) -> Exception:
    text = str(error.args[1]) if len(error.args) > 1 else str(error)
    return explain(_code(error), text, settings, is_away=_is_away(error)) or error
