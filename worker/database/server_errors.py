"""What the numbers of MySQL's and MariaDB's errors mean, and what a person is told of them."""

from __future__ import annotations

from worker.database_settings import DatabaseSettings
from worker.errors import (
    AccessDenied,
    AlreadyThere,
    BadData,
    DatabaseUnavailable,
    DuplicateKey,
    NightshiftError,
    SettingsError,
)

# The whole transaction was rolled back or refused for another's sake: do it again.
CONFLICTS = {1020, 1205, 1213}
# The server is away, full, shutting down, read-only after a failover, or not ready (Galera).
# 4031 is MySQL's parting word on an idle connection, 1927 MariaDB's on a killed one.
AWAY = {1040, 1047, 1053, 1158, 1159, 1160, 1161, 1290, 1836}
AWAY |= {1927, 2002, 2003, 2006, 2013, 2055, 4031}
DENIED = {1044, 1045, 1142, 1143, 1227, 1698}
DUPLICATE_KEY = 1062
# A table, column or index of that name exists.
ALREADY_THERE = {1050, 1060, 1061}
UNKNOWN_DATABASE = 1049
# Too long, wrong characters, not JSON, out of range, against a CHECK; the last two are MariaDB's.
BAD_DATA = {1153, 1264, 1366, 1406, 3140, 3141, 3144, 3819, 4025, 4038}
NO_TLS = 2026


def explain(
    code: int | None, text: str, settings: DatabaseSettings, *, is_away: bool
) -> NightshiftError | None:
    """Turn a server's error into one line for a person; None is our own bug, to be seen whole."""
    text = " ".join(text.split())
    if code == DUPLICATE_KEY:
        return DuplicateKey(text)
    if code in ALREADY_THERE:
        return AlreadyThere(text)
    if code in BAD_DATA:
        return BadData(text)
    if code == UNKNOWN_DATABASE:
        return DatabaseUnavailable(
            f"database {settings.database!r} does not exist on {settings}; "
            f"create it: CREATE DATABASE `{settings.database}` CHARACTER SET utf8mb4"
        )
    if code == NO_TLS:
        return SettingsError(
            f"{settings} offers no TLS, but ssl-mode={settings.ssl_mode} asks for it; "
            f"switch it on there, or use ssl-mode=preferred"
        )
    if code in (1045, 1698):
        return AccessDenied(
            f"{settings} refuses user {settings.user!r}: wrong user or password; "
            f"check DATABASE_URL or MYSQL_USER and MYSQL_PASSWORD"
        )
    if code in DENIED:
        return AccessDenied(
            f"user {settings.user!r} lacks a right on {settings}: {text}; as an administrator: "
            f"GRANT ALL ON `{settings.database}`.* TO the user"
        )
    if is_away:
        return DatabaseUnavailable(
            f"database {settings} cannot be reached: {text}; "
            f"check that it runs and that DATABASE_URL names it"
        )
    return None
