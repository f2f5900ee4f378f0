"""Inserting millions of rows: large statements, one transaction, memory flat.

A thread sends while the caller's rows are still being made, so that client and server work at the
same time. Nothing is in until `commit`.
"""

from __future__ import annotations

import queue
import re
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, NamedTuple, Protocol

MAX_STATEMENT_CHARS = 1_000_000
MAX_STATEMENT_ROWS = 5_000
STATEMENTS_AHEAD = 4
# The sender needs the interpreter seldom and briefly, but the server idles until it has it.
SWITCH_SECONDS = 0.0005

_GROUP = re.compile(r"(?s)\A(?P<head>.*\bVALUES\s*)(?P<group>\(.*?\))(?P<tail>\s*(?:ON\b.*)?)\Z")


class Connection(Protocol):
    """What is needed of a connection."""

    def escape(self, obj: object) -> str: ...
    def query(self, sql: str) -> int: ...
    def insert_id(self) -> int: ...


class Block(NamedTuple):
    """What one statement did: the first id it made, the rows it was given, those it inserted."""

    first_id: int
    rows: int
    inserted: int


class BulkInsert:
    """One bulk insert over one connection, which nobody else may use meanwhile."""

    def __init__(
        self, connection: Connection, sql: str, constants: Mapping[str, Any], first: str = ""
    ) -> None:
        match = _GROUP.match(sql)
        assert match is not None, "the query has no VALUES group"
        self._connection = connection
        self._head, self._tail = match["head"], match["tail"]
        escaped = {name: connection.escape(value) for name, value in constants.items()}
        # Split first: a constant may hold a question mark.
        pieces = [piece % escaped for piece in match["group"].split("?")]
        self._group = "%s".join(piece.replace("%", "%%") for piece in pieces)
        self._first = first
        self._inbox: queue.Queue[tuple[str, int] | None] = queue.Queue(STATEMENTS_AHEAD)
        self._sender = threading.Thread(target=self._send, name="bulk insert", daemon=True)
        self._error: Exception | None = None
        self.inserted = 0
        self.blocks: list[Block] = []

    def __enter__(self) -> BulkInsert:
        self._usual_interval = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH_SECONDS)
        self._connection.query("BEGIN")
        if self._first:
            self._connection.query(self._first)
        self._sender.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        sys.setswitchinterval(self._usual_interval)
        self._finish()
        if kind is None:
            self._connection.query("COMMIT")

    def run(self, rows: Iterable[Sequence[Any]]) -> Iterator[int]:
        """Send the rows; yield, now and then, how many were given so far."""
        groups: list[str] = []
        size = given = 0
        literal, template = self._literal, self._group
        for row in rows:
            group = template % tuple(map(literal, row))
            groups.append(group)
            size += len(group)
            given += 1
            if size > MAX_STATEMENT_CHARS or len(groups) >= MAX_STATEMENT_ROWS:
                self._put(groups)
                groups, size = [], 0
                yield given
        if groups:
            self._put(groups)
        self._finish()
        yield given

    def _literal(self, value: Any) -> str:
        if value is None:
            return "NULL"
        if type(value) is str and not ("'" in value or "\\" in value or "\0" in value):
            # Nothing in it can end or change a literal, and most texts are so.
            return f"'{value}'"
        return self._connection.escape(value)

    def _put(self, groups: list[str]) -> None:
        self._raise_problem()
        self._inbox.put((f"{self._head}{','.join(groups)}{self._tail}", len(groups)))

    def _finish(self) -> None:
        if self._sender.is_alive():
            self._inbox.put(None)
            self._sender.join()
        self._raise_problem()

    def _raise_problem(self) -> None:
        if self._error is not None:
            problem, self._error = self._error, None
            raise problem

    def _send(self) -> None:
        while (item := self._inbox.get()) is not None:
            if self._error is not None:
                # Go on emptying the inbox, so that the caller is never stuck before it.
                continue
            try:
                statement, rows = item
                inserted = self._connection.query(statement)
                self.inserted += inserted
                self.blocks.append(Block(self._connection.insert_id(), rows, inserted))
            except Exception as error:
                self._error = error
