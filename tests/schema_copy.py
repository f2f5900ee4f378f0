"""The schema of a migrated database as statements, so that every test has its own at once.

Each of over a hundred steps of migration changes a table; what they come to is made in thirty.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, groupby
from operator import itemgetter
from typing import Any

from pymysql import Connection

from worker.database.client import Database


@dataclass(frozen=True, slots=True)
class SchemaCopy:
    """What a migrated database holds: its tables, and the rows that migrations put there."""

    tables: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Any, ...]], ...]

    @classmethod
    def of(cls, connection: Connection[Any]) -> SchemaCopy:
        """Read the tables and rows of a connection's database."""
        tables, rows = [], []
        with connection.cursor() as cursor:
            cursor.execute("SHOW TABLES")
            for (name,) in cursor.fetchall():
                cursor.execute(f"SHOW CREATE TABLE `{name}`")
                tables.append(cursor.fetchone()[1])
                cursor.execute(f"SELECT * FROM `{name}`")
                rows += [(name, row) for row in cursor.fetchall()]
        return cls(tuple(tables), tuple(rows))

    def make(self, db: Database) -> None:
        """Make them anew in a database that is empty."""
        # A table may refer to one whose name comes later.
        db.run_statement("SET foreign_key_checks = 0")
        for statement in self.tables:
            db.run_statement(statement)
        for name, rows in groupby(self.rows, key=itemgetter(0)):
            values = [row for _, row in rows]
            named = {f"v{n}": value for n, value in enumerate(chain(*values))}
            marks = [f"%({name})s" for name in named]
            lines = ", ".join(f"({', '.join(line)})" for line in _split(marks, len(values[0])))
            db.run_statement(f"INSERT INTO `{name}` VALUES {lines}", named)
        db.run_statement("SET foreign_key_checks = 1")


def _split(marks: list[str], size: int) -> list[list[str]]:
    return [marks[at : at + size] for at in range(0, len(marks), size)]
