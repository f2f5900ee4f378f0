"""The schema of a migrated database as statements, so that every test has its own at once.

Each of over a hundred steps of migration changes a table; what they come to is made in thirty.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pymysql import Connection


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

    def make(self, connection: Connection[Any]) -> None:
        """Make them anew in a connection's database, which is empty."""
        with connection.cursor() as cursor:
            # A table may refer to one whose name comes later.
            cursor.execute("SET foreign_key_checks = 0")
            for statement in self.tables:
                cursor.execute(statement)
            for name, row in self.rows:
                marks = ", ".join(["%s"] * len(row))
                cursor.execute(f"INSERT INTO `{name}` VALUES ({marks})", row)
            cursor.execute("SET foreign_key_checks = 1")
        connection.commit()
