"""The statements of one transaction; `Database.transaction` makes it, repeats it and ends it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from worker.database.session import Connection
from worker.database.statements import query

Row = dict[str, Any]


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

    def insert_many(self, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Insert rows in bulk statements."""
        with self._connection.cursor() as cursor:
            cursor.executemany(query(name), rows)

    def insert(self, name: str, /, **params: Any) -> int:
        """Insert one row and return its id."""
        with self._connection.cursor() as cursor:
            cursor.execute(query(name), params)
            return int(cursor.lastrowid or 0)

    def discard(self) -> None:
        """Undo everything at the end, without calling that an error."""
        self.is_discarded = True
