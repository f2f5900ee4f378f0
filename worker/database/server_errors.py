"""What the numbers of MySQL's and MariaDB's errors call for, and what a person is told of them.

Only the numbers named below as final end a statement for good. Every other error is taken to pass,
also one that nobody here has heard of: a night is not given up for a server's passing trouble.
"""

from __future__ import annotations

from enum import Enum, auto

from worker.database_settings import DatabaseSettings
from worker.errors import (
    AccessDenied,
    AlreadyThere,
    BadData,
    DatabaseUnavailable,
    DuplicateKey,
    NightshiftError,
    RowsLocked,
    SettingsError,
    Undone,
)


class Trouble(Enum):
    """What to do about a server's error."""

    # Never try again: the same statement would fail the same way.
    FINAL = auto()
    # Undone for another transaction's sake: do the whole transaction again at once.
    CONFLICT = auto()
    # Another transaction holds a row for too long: wait, or go round it where that is wanted.
    LOCKED = auto()
    # Killed, or out of time: a person may have meant it, so try again a few times only.
    INTERRUPTED = auto()
    # The server cannot do it now, and the connection is as good as before: wait.
    BUSY = auto()
    # Away, leaving, read-only, or something unknown: wait, and connect again.
    AWAY = auto()


# Final: the user is not let in or lacks a right. The last six: a host that is not allowed, an
# authentication we do not speak (two), an expired password (two), a locked account.
WRONG_LOGIN = {1045, 1698}
DENIED = {1044, 1142, 1143, 1227, 1370, 1410, 1419, 1130, 1251, 1524, 1820, 1862, 3118, 4151}
DENIED |= WRONG_LOGIN
# Final: a row with that key, or a database, table, column, key, check or trigger of that name, is
# there.
DUPLICATE_KEY = 1062
DUPLICATE_KEYS = {1022, DUPLICATE_KEY, 1586}
ALREADY_THERE = {1007, 1050, 1060, 1061, 1359, 1826, 3822}
UNKNOWN_DATABASE = 1049
# Final: TLS is wanted and not offered, or the other way round.
NO_TLS = {2026, 3159}
# Final: null where none may be, too long, wrong characters or type, not JSON, out of range, against
# a CHECK, a foreign key or somebody's trigger (1644). 4025 and 4038 are MariaDB's.
BAD_DATA = {1048, 1153, 1216, 1217, 1264, 1265, 1292, 1364, 1365, 1366, 1406, 1411, 1441, 1451}
BAD_DATA |= {1452, 1644, 1690, 3140, 3141, 3144, 3156, 3157, 3158, 3819, 4025, 4038}
# Final, and a bug of ours to be seen whole. The SQL cannot be parsed.
OUR_BUGS = {1064, 1065, 1149}
# It names what there is not, or not there: database, table, column, index, variable, routine,
# character set, engine, trigger.
OUR_BUGS |= {1046, 1051, 1052, 1054, 1072, 1091, 1109, 1115, 1128, 1146, 1176, 1193, 1273, 1286}
OUR_BUGS |= {1305, 1327, 1360}
# It asks for what cannot be: columns that do not match, wrong arguments, collations that do not
# mix, values that no variable takes, a table read while it is written.
OUR_BUGS |= {1055, 1056, 1057, 1058, 1066, 1093, 1110, 1111, 1120, 1136, 1138, 1140, 1172, 1210}
OUR_BUGS |= {1221, 1222, 1228, 1229, 1230, 1231, 1232, 1235, 1238, 1241, 1242, 1247, 1248, 1253}
OUR_BUGS |= {1267, 1270, 1271, 1318, 1351, 1415, 1422, 1568, 1582, 1583, 1584, 3143, 3149}
# It declares a table, a column or an index that cannot be.
OUR_BUGS |= {1059, 1063, 1067, 1068, 1069, 1070, 1071, 1073, 1074, 1075, 1101, 1102, 1103, 1118}
OUR_BUGS |= {1166, 1167, 1170, 1171, 1215, 1425, 1426, 1427}
FINAL = {UNKNOWN_DATABASE}.union(DENIED, DUPLICATE_KEYS, ALREADY_THERE, NO_TLS, BAD_DATA, OUR_BUGS)

# A changed snapshot (MariaDB), a lock not given in time, a deadlock; refused by the other members
# of a group or cluster when it was committed (3101, 1213 on Galera, 1180 that says 149).
LOCKED = {1205, 3572}
CONFLICTS = {1020, 1213, 3101}
COMMIT_FAILED, DEADLOCK_AT_COMMIT = 1180, "error 149"
KILLED = {1317}
OUT_OF_TIME = {1969, 3024}

# What a person is told of the errors that pass, and what they can do about it.
DISK_FULL = {1021, 1114}
NO_MEMORY = {1037, 1038, 1041, 1135, 3015}
FAILED_INSIDE = {1005, 1026, 1030, COMMIT_FAILED}
# None of these ends the session, and its named locks with it.
BUSY = DISK_FULL | NO_MEMORY | FAILED_INSIDE
TOO_MANY_OF_USER = {1203, 1226}
TOO_MANY = {1040}
OFFLINE = {3032}
HOST_BLOCKED = {1129}
READ_ONLY = {1036, 1290, 1792, 1836, 1874, 3100, 3797, 3798}
NOT_READY = {1047}
# Beside all of the client's own numbers: shut down, network errors, killed (MariaDB), idle (MySQL).
CONNECTION_LOST = {1053, 1158, 1159, 1160, 1161, 1927, 3168, 3169, 4031}
ADVICE = (
    (DISK_FULL, "the server's disk or table space is full", "free some space there"),
    (NO_MEMORY, "the server is out of memory", "free some there, or give it more"),
    (FAILED_INSIDE, "the server could not read or write its files", "look into its error log"),
    (
        TOO_MANY_OF_USER,
        "the user has too many connections",
        "raise its limit, or use fewer workers",
    ),
    (TOO_MANY, "the server has too many connections", "raise max_connections there"),
    (
        OFFLINE,
        "the server is in offline mode",
        "as an administrator: SET GLOBAL offline_mode = OFF",
    ),
    (HOST_BLOCKED, "the server blocks this host", "as an administrator: FLUSH HOSTS"),
    (READ_ONLY, "the server takes no writes now", "check which of your servers is the primary"),
    (NOT_READY, "this node of the cluster is not ready", "check that the cluster has a majority"),
    (KILLED, "somebody ended the query on the server", "run it again if that was not meant"),
    (OUT_OF_TIME, "the query took longer than it may", "try again when the server is less busy"),
)


def judge(code: int | None, text: str) -> Trouble:
    """Say what to do about an error; `code` is None where the connection itself failed."""
    if code in FINAL:
        return Trouble.FINAL
    if code in LOCKED:
        return Trouble.LOCKED
    if code in CONFLICTS or (code == COMMIT_FAILED and DEADLOCK_AT_COMMIT in text.lower()):
        return Trouble.CONFLICT
    if code in KILLED | OUT_OF_TIME:
        return Trouble.INTERRUPTED
    return Trouble.BUSY if code in BUSY else Trouble.AWAY


def explain(code: int | None, text: str, settings: DatabaseSettings) -> NightshiftError | None:
    """Turn a server's error into one line for a person; None is our own bug, to be seen whole."""
    text = " ".join(text.split())
    if code in OUR_BUGS:
        return None
    if code in FINAL:
        return _final(code, text, settings)
    for codes, what, remedy in ADVICE:
        if code in codes:
            return DatabaseUnavailable(f"database {settings}: {what}: {text}; {remedy}")
    if code in LOCKED:
        return RowsLocked(
            f"database {settings}: another transaction holds the row: {text}; "
            f"look for one there that is never ended"
        )
    if judge(code, text) is Trouble.CONFLICT:
        return Undone(
            f"database {settings}: others were in the way too often: {text}; "
            f"look for a transaction there that is never ended"
        )
    if code is None or code in CONNECTION_LOST or 2000 <= code < 3000:
        return DatabaseUnavailable(
            f"database {settings} cannot be reached: {text}; "
            f"check that it runs and that DATABASE_URL names it"
        )
    return DatabaseUnavailable(
        f"database {settings} cannot be used now: {text} (error {code}); look into its error log"
    )


def _final(code: int | None, text: str, settings: DatabaseSettings) -> NightshiftError:
    if code in DUPLICATE_KEYS:
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
    if code in NO_TLS:
        return SettingsError(
            f"{settings} and ssl-mode={settings.ssl_mode} do not agree on TLS: {text}; "
            f"switch it on there, or use ssl-mode=preferred"
        )
    if code in WRONG_LOGIN:
        return AccessDenied(
            f"{settings} refuses user {settings.user!r}: wrong user or password; "
            f"check DATABASE_URL or MYSQL_USER and MYSQL_PASSWORD"
        )
    return AccessDenied(
        f"user {settings.user!r} lacks a right on {settings}: {text}; as an administrator: "
        f"GRANT ALL ON `{settings.database}`.* TO the user"
    )
