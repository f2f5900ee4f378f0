"""Every session has the same settings, and no statement outlives its client's patience."""

from __future__ import annotations

import time

import pytest

from tests.integration.database.conftest import WANTED_SESSION, session
from worker.database.session import statement_seconds
from worker.errors import (
    DatabaseUnavailable,
)

SLOW_READ = "SELECT COUNT(*) AS n FROM information_schema.columns WHERE SLEEP(1) = 0"
SLOW_WRITE = "INSERT INTO slow SELECT SLEEP(1) FROM information_schema.columns LIMIT 20"


@pytest.fixture
def at_work(database):
    """Tell which statements like this are at work on the server."""

    def at_work(part: str) -> list[int]:
        rows = database.run_statement("SHOW FULL PROCESSLIST")
        return [row["Id"] for row in rows if part in (row["Info"] or "")]

    return at_work


def statement_limit(db) -> float:
    rows = db.run_statement(
        "SHOW VARIABLES WHERE Variable_name IN ('max_statement_time', 'max_execution_time')"
    )
    values = {row["Variable_name"]: float(row["Value"]) for row in rows}
    return values.get("max_statement_time") or values.get("max_execution_time", 0.0) / 1000


@pytest.mark.parametrize("read_timeout", [2.0, 10.0, 15.0, 600.0])
def test_the_server_gives_a_statement_up_a_little_before_its_client(connect, read_timeout):
    limit = statement_limit(connect(read_timeout_seconds=read_timeout))

    assert limit == pytest.approx(statement_seconds(read_timeout), abs=0.01)
    assert read_timeout - 5 <= limit < read_timeout


def test_a_slow_read_is_over_on_the_server_before_its_client_gives_up(connect, at_work):
    began = time.monotonic()
    with pytest.raises(DatabaseUnavailable, match="took longer than it may"):
        connect(read_timeout_seconds=3.0).run_statement(SLOW_READ)

    assert time.monotonic() - began < 3.0
    assert at_work("information_schema.columns WHERE") == []


def test_a_slow_write_does_not_outlive_its_client(database, connect, at_work, eventually):
    database.run_statement("CREATE TABLE slow (n INT)")
    db = connect(read_timeout_seconds=2.0)
    with pytest.raises(DatabaseUnavailable):
        db.run_statement(SLOW_WRITE)

    eventually(lambda: not at_work("INTO slow SELECT"), seconds=3)
    assert database.run_statement("SELECT * FROM slow") == []


def test_a_change_of_the_schema_may_take_as_long_as_it_needs(connect):
    db = connect(read_timeout_seconds=30.0)
    db.lift_statement_limit()

    assert statement_limit(db) == 0


def test_every_session_has_the_same_settings(database):
    assert session(database) == WANTED_SESSION


def test_a_session_is_in_utc_and_utf8mb4_even_where_the_server_is_not(mysql, connect):
    with mysql.cursor() as cursor:
        cursor.execute("SET GLOBAL time_zone = '+05:00'")
        try:
            db = connect()
            assert session(db) == WANTED_SESSION
            assert db.run_statement("SELECT NOW() = UTC_TIMESTAMP() AS same") == [{"same": 1}]
        finally:
            cursor.execute("SET GLOBAL time_zone = '+00:00'")


def test_an_emoji_comes_back_as_it_was(database):
    (row,) = database.run_statement("SELECT %(text)s AS text", {"text": "密码 🦉 ü"})
    assert row["text"] == "密码 🦉 ü"


def test_a_new_connection_after_a_loss_has_the_same_settings(database, connect):
    other = connect()
    (row,) = other.run_statement("SELECT CONNECTION_ID() AS id")
    database.run_statement(f"KILL {row['id']}")
    other.patience_seconds = 20
    other.ping()
    assert session(other) == WANTED_SESSION
