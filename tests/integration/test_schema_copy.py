"""The schema that tests work on is the one that migrations make, to the letter."""

from __future__ import annotations

from contextlib import closing
from typing import Any

from pymysql import Connection

from tests.schema_copy import SchemaCopy
from worker.database import migrations
from worker.database.client import Database
from worker.database_settings import DatabaseSettings


def test_a_copied_schema_is_the_migrated_one(
    settings: DatabaseSettings, mysql: Connection[Any], schema: SchemaCopy
) -> None:
    with closing(Database(settings)) as db:
        migrations.migrate(db)
    migrated = SchemaCopy.of(mysql)
    with mysql.cursor() as cursor:
        cursor.execute("DROP DATABASE nightshift_test")
        cursor.execute("CREATE DATABASE nightshift_test COLLATE utf8mb4_bin")
    mysql.select_db("nightshift_test")

    with closing(Database(settings)) as db:
        schema.make(db)

    copied = SchemaCopy.of(mysql)
    assert _plain(copied.tables) == _plain(migrated.tables)
    assert [name for name, _ in copied.rows] == [name for name, _ in migrated.rows]


def test_no_migration_is_missing_in_a_copied_schema(database: Database) -> None:
    assert migrations.pending(database) == []


def _plain(tables: tuple[str, ...]) -> list[str]:
    # MySQL shows a column's character set again once it was named, though it is the table's own.
    return [table.replace(" CHARACTER SET utf8mb4", "") for table in tables]
