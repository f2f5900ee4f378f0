"""Statements that the server keeps parsed for a connection: a hot one takes it a fifth less time.

They go by the binary protocol, which PyMySQL does not speak by itself. What a server will not keep,
or has forgotten, is sent as text: the caller notices nothing, and repeats as after any statement.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

import pymysql
from pymysql.constants import COMMAND, FIELD_TYPE

from worker.database.session import Connection
from worker.database.statements import fill, query

# It knows no such statement (any more), or would have to parse it again too often.
FORGOTTEN = {1243, 1615}
# The client's own numbers: the connection is lost.
CLIENT_ERRORS = range(2000, 3000)

_PARAMETER = re.compile(r"%\((\w+)\)s")
_NULL, _NUMBER, _FLOAT, _TEXT = (
    struct.pack("<H", kind)
    for kind in (FIELD_TYPE.NULL, FIELD_TYPE.LONGLONG, FIELD_TYPE.DOUBLE, FIELD_TYPE.VAR_STRING)
)
# The statement's number, no cursor, once.
_HEAD = struct.Struct("<IBI")
_pack_number, _pack_float = struct.Struct("<q").pack, struct.Struct("<d").pack

# None is a statement that the server does not keep.
_kept: WeakKeyDictionary[Connection, dict[str, _Statement | None]] = WeakKeyDictionary()


def run(connection: Connection, name: str, params: Mapping[str, Any]) -> int:
    """Run a named statement that returns no rows; return how many it changed.

    Raises what the driver raises.
    """
    if (statements := _kept.get(connection)) is None:
        statements = _kept[connection] = {}
    if name not in statements:
        statements[name] = _prepare(connection, query(name))
    if (statement := statements[name]) is not None:
        try:
            return statement.run(params)
        except pymysql.Error as error:
            if _number(error) not in FORGOTTEN:
                raise
            statements[name] = None
    return int(connection.query(fill(query(name), params, connection.escape)))


class _Statement:
    """One that the server keeps. What is used of the driver here, it does not promise to keep."""

    def __init__(self, connection: Any, text: str) -> None:
        self._connection = connection
        self._names = _PARAMETER.findall(text)
        connection._execute_command(  # noqa: SLF001
            COMMAND.COM_STMT_PREPARE, _PARAMETER.sub("?", text).replace("%%", "%")
        )
        answer = connection._read_packet().get_all_data()  # noqa: SLF001
        self._number, _, parameters = struct.unpack_from("<IHH", answer, 1)
        # A packet about each of them follows, and one that ends those.
        for _ in range(parameters + 1 if parameters else 0):
            connection._read_packet()  # noqa: SLF001

    def run(self, params: Mapping[str, Any]) -> int:
        nulls, types, values = 0, b"", b""
        for place, name in enumerate(self._names):
            value = params[name]
            if value is None:
                nulls |= 1 << place
                types += _NULL
            elif isinstance(value, str):
                types += _TEXT
                values += _with_length(value.encode())
            elif isinstance(value, float):
                types += _FLOAT
                values += _pack_float(value)
            else:
                types += _NUMBER
                values += _pack_number(value)
        connection = self._connection
        connection._execute_command(  # noqa: SLF001
            COMMAND.COM_STMT_EXECUTE,
            _HEAD.pack(self._number, 0, 1)
            + nulls.to_bytes((len(self._names) + 7) // 8, "little")
            # The types are given anew each time.
            + b"\x01"
            + types
            + values,
        )
        return int(connection._read_query_result())  # noqa: SLF001


def _prepare(connection: Connection, text: str) -> _Statement | None:
    """Have a statement kept; None when the server does not, for whatever reason of its own."""
    try:
        return _Statement(connection, text)
    except pymysql.Error as error:
        if _number(error) in CLIENT_ERRORS:
            raise
        return None


def _with_length(data: bytes) -> bytes:
    """Put a text's length before it, as the protocol writes lengths."""
    size = len(data)
    if size < 251:
        return bytes((size,)) + data
    return (
        b"\xfd" + size.to_bytes(3, "little") if size < 1 << 24 else b"\xfe" + _pack_number(size)
    ) + data


def _number(error: pymysql.Error) -> Any:
    return error.args[0] if error.args else None
