"""Whether a server is a member of a Galera cluster or of a MySQL group, and how it catches up.

Members apply what another has committed a moment later. A session that has caught up has all that
was committed anywhere before. One server alone costs one question, once.
"""

from __future__ import annotations

from enum import Enum, auto

import pymysql

from worker.database.server_errors import LOCKED
from worker.database.session import Connection

NODE_NOT_READY = 1047


class Membership(Enum):
    """What a server is a member of."""

    NONE = auto()
    GALERA = auto()
    GROUP = auto()


# Every MySQL has group_replication_consistency; only a member of a group has its name.
_QUESTION = (
    "SHOW VARIABLES WHERE (Variable_name = 'group_replication_group_name' AND Value <> '') "
    "OR (Variable_name = 'wsrep_on' AND Value = 'ON')"
)
# Each sets the session so that it waits, has it wait, and sets it back to what the server wants.
_CATCH_UP = {
    Membership.GALERA: (
        "SET SESSION wsrep_sync_wait = 1",
        "SELECT 1",
        "SET SESSION wsrep_sync_wait = DEFAULT",
    ),
    Membership.GROUP: (
        "SET SESSION group_replication_consistency = 'BEFORE'",
        "BEGIN",
        "ROLLBACK",
        "SET SESSION group_replication_consistency = DEFAULT",
    ),
}


def join(connection: Connection, known: Membership | None) -> Membership:
    """Have a new session catch up; `known` spares asking what its server is a member of."""
    try:
        found = _ask(connection) if known is None else known
        _catch_up(connection, found)
    except BaseException:
        connection.close()
        raise
    return found


def catch_up(connection: Connection) -> None:
    """Have a session wait until it has all that its cluster had committed before."""
    _catch_up(connection, _ask(connection))


def _ask(connection: Connection) -> Membership:
    with connection.cursor() as cursor:
        cursor.execute(_QUESTION)
        names = {row["Variable_name"] for row in cursor.fetchall()}
    if "wsrep_on" in names:
        return Membership.GALERA
    return Membership.GROUP if names else Membership.NONE


def _catch_up(connection: Connection, member: Membership) -> None:
    try:
        with connection.cursor() as cursor:
            for statement in _CATCH_UP.get(member, ()):
                cursor.execute(statement)
    except pymysql.OperationalError as error:
        if error.args[0] not in LOCKED:
            raise
        # So says Galera of a member that has lost the others, but nobody holds a row.
        raise pymysql.OperationalError(
            NODE_NOT_READY, f"it does not catch up with its cluster ({error.args[1]})"
        ) from error
