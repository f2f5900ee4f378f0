"""Statements that the server keeps parsed for a connection: a hot one takes it a fifth less time.

They go by the binary protocol, which PyMySQL does not speak by itself. What a server will not keep,
or has forgotten, is sent as text: the caller notices nothing, and repeats as after any statement.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from types import NoneType
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
LONGEST_IN_A_BYTE = 250

_PARAMETER = re.compile(r"%\((\w+)\)s")
_TYPES = {
    NoneType: FIELD_TYPE.NULL,
    int: FIELD_TYPE.LONGLONG,
    float: FIELD_TYPE.DOUBLE,
    str: FIELD_TYPE.VAR_STRING,
}
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
            return statement.run(connection, params)
        except pymysql.Error as error:
            if _number(error) not in FORGOTTEN:
                raise
            statements[name] = None
    return int(connection.query(fill(query(name), params, connection.escape)))


class _Statement:
    """One that the server keeps. What is used of the driver here, it does not promise to keep."""

    def __init__(self, connection: Any, text: str) -> None:
        self._names = _PARAMETER.findall(text)
        self._heads: dict[tuple[type, ...], bytes] = {}
        connection._execute_command(  # noqa: SLF001
            COMMAND.COM_STMT_PREPARE, _PARAMETER.sub("?", text).replace("%%", "%")
        )
        answer = connection._read_packet().get_all_data()  # noqa: SLF001
        self._number, _, parameters = struct.unpack_from("<IHH", answer, 1)
        # A packet about each of them follows, and one that ends those.
        for _ in range(parameters + 1 if parameters else 0):
            connection._read_packet()  # noqa: SLF001

    def run(self, connection: Any, params: Mapping[str, Any]) -> int:
        values = [params[name] for name in self._names]
        kinds = tuple(map(type, values))
        if (head := self._heads.get(kinds)) is None:
            head = self._heads[kinds] = self._head_of(kinds)
        message = head + b"".join(map(_write, values))
        connection._execute_command(COMMAND.COM_STMT_EXECUTE, message)  # noqa: SLF001
        answer = connection._read_packet()  # noqa: SLF001
        # It begins with a zero, and the rows that were changed.
        answer.advance(1)
        return int(answer.read_length_encoded_integer())

    def _head_of(self, kinds: tuple[type, ...]) -> bytes:
        """Write what comes before the values: which of them are NULL, and the types of all."""
        nulls = sum(1 << place for place, kind in enumerate(kinds) if kind is NoneType)
        types = b"".join(struct.pack("<H", _TYPES[kind]) for kind in kinds)
        # Run once, without a cursor; the types are given anew.
        head = struct.pack("<IBI", self._number, 0, 1)
        return head + nulls.to_bytes((len(kinds) + 7) // 8, "little") + b"\x01" + types


def _prepare(connection: Connection, text: str) -> _Statement | None:
    """Have a statement kept; None when the server does not, for whatever reason of its own."""
    try:
        return _Statement(connection, text)
    except pymysql.Error as error:
        if _number(error) in CLIENT_ERRORS:
            raise
        return None


def _write(value: float | str | None) -> bytes:
    """Write one value; a text has its length before it."""
    if value is None:
        return b""
    if isinstance(value, str):
        data = value.encode()
        return _length(len(data)) + data
    return _pack_float(value) if isinstance(value, float) else _pack_number(value)


def _length(size: int) -> bytes:
    """Write a length as the protocol does: one byte, or a mark and as many as are needed."""
    if size <= LONGEST_IN_A_BYTE:
        return bytes((size,))
    return b"\xfd" + size.to_bytes(3, "little") if size < 1 << 24 else b"\xfe" + _pack_number(size)


def _number(error: pymysql.Error) -> Any:
    return error.args[0] if error.args else None
