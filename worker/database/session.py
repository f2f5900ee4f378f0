"""How one connection is opened, and what every session on the server is set to.

A statement ends on the server before its client gives up on it: MariaDB ends every statement, MySQL
every SELECT. `end_abandoned` ends what a client has given up on all the same.
"""

from __future__ import annotations

import socket
from contextlib import closing
from typing import TypeAlias

import pymysql
from pymysql.constants import CLIENT
from pymysql.cursors import DictCursor

from worker.database import server_socket
from worker.database.private_server import PrivateSettings
from worker.database.tls import tls_context
from worker.database_settings import DatabaseSettings
from worker.errors import SettingsError

Connection: TypeAlias = "pymysql.Connection[DictCursor]"

CONNECT_SECONDS = 5.0
# What it may cost to end a statement that was given up on: its client has waited long enough.
END_SECONDS = 1.0
# How much sooner than its client the server gives up: time for the answer to arrive.
MARGIN_SHARE = 0.15
MAX_MARGIN_SECONDS = 5.0

# The server itself reads its half of the comment, so that no proxy's version can mislead us.
_SESSION = (
    "SET time_zone = '+00:00', innodb_lock_wait_timeout = {lock_wait:d}, "
    "sql_mode = 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION' "
    "/*!50708 , max_execution_time = {milliseconds:d} */ "
    "/*M!100101 , max_statement_time = {seconds:.3f} */",
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
)
_UNLIMITED = (
    "SET time_zone = '+00:00' /*!50708 , max_execution_time = 0 */ "
    "/*M!100101 , max_statement_time = 0 */"
)


def open_session(
    settings: DatabaseSettings, read_timeout_seconds: float, lock_wait_seconds: int
) -> Connection:
    """Connect and set the session up. Raises pymysql.Error, OSError or SettingsError."""
    connection = _connect(settings, CONNECT_SECONDS, read_timeout_seconds)
    limit = statement_seconds(read_timeout_seconds)
    try:
        with connection.cursor() as cursor:
            for statement in _SESSION:
                cursor.execute(
                    statement.format(
                        seconds=limit,
                        milliseconds=round(limit * 1000),
                        lock_wait=lock_wait_seconds,
                    )
                )
    except BaseException:
        connection.close()
        raise
    return connection


def statement_seconds(read_timeout_seconds: float) -> float:
    """Tell how long the server may take for a statement whose client waits this long."""
    return read_timeout_seconds - min(MARGIN_SHARE * read_timeout_seconds, MAX_MARGIN_SECONDS)


def lift_statement_limit(connection: Connection) -> None:
    """Let this session's statements take as long as they need."""
    with connection.cursor() as cursor:
        cursor.execute(_UNLIMITED)


def end_abandoned(settings: DatabaseSettings, thread_id: int, read_timeout_seconds: float) -> None:
    """End a session whose client got no answer in time, with its statement and its locks.

    Best effort, within about a second. The id is looked at first: behind a proxy this connection
    may lead to another server, where the same id is somebody else's.
    """
    try:
        with (
            closing(_connect(settings, END_SECONDS, END_SECONDS)) as connection,
            connection.cursor() as cursor,
        ):
            cursor.execute("SHOW PROCESSLIST")
            for row in cursor.fetchall():
                # Both ends count whole seconds, each from a beginning of its own.
                has_run_long = (row["Time"] or 0) >= int(read_timeout_seconds) - 1
                is_ours = row["Id"] == thread_id and row["User"] == settings.user
                if is_ours and has_run_long and row["Command"] == "Query":
                    cursor.execute(f"KILL {thread_id}")
    except (pymysql.Error, OSError, SettingsError):
        pass


def _connect(
    settings: DatabaseSettings, connect_seconds: float, read_timeout_seconds: float
) -> Connection:
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
        connect_timeout=connect_seconds,
        read_timeout=read_timeout_seconds,
        write_timeout=read_timeout_seconds,
        client_flag=CLIENT.MULTI_STATEMENTS,
        cursorclass=DictCursor,
        ssl=tls_context(settings),
        ssl_disabled=settings.ssl_mode == "disabled" or settings.unix_socket is not None,
        defer_connect=True,
    )
    try:
        if settings.unix_socket is None:
            connection.connect()
        else:
            # PyMySQL would leave a socket open at which nobody answered, until it is collected.
            # Given one, it has to be told that nobody listens in on it: MySQL asks for the password
            # as it is.
            connection._secure = True  # type: ignore[attr-defined]  # noqa: SLF001
            connection.connect(_unix_socket(settings, settings.unix_socket, connect_seconds))
    except UnicodeError as error:
        # Such as `db..example`: Python refuses to look it up.
        raise SettingsError(f"{settings}: the host cannot be a name") from error
    return connection


def _unix_socket(settings: DatabaseSettings, path: str, connect_seconds: float) -> socket.socket:
    private = settings if isinstance(settings, PrivateSettings) else None
    if private is not None:
        server_socket.check_folder(private.server_folder)
    connected = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connected.settimeout(connect_seconds)
        connected.connect(path)
        if private is not None:
            server_socket.check_peer(connected, private.server_folder)
    except BaseException:
        connected.close()
        raise
    return connected
