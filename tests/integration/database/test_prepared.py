"""Statements that the server keeps parsed: they do what the same text would do, kept or not."""

from __future__ import annotations

import json
from contextlib import closing

import pytest

from worker.database.client import Database
from worker.errors import BadData

COM_RESET_CONNECTION = 31


@pytest.fixture
def finish(database, queue, claim_as):
    """Finish a new job by a prepared statement, and return its row."""

    def finish(result='{"a": 1}', db=database, **values):
        job_id = queue.enqueue("visit", {})
        claim = claim_as(incarnation=7)
        usual = {
            "next_id": -1, "next_version": "2026-01-01 00:00:00.000000", "lease_seconds": 60.0,
            "task_cap": None, "proxy": None, "slot": 0,
        }  # fmt: skip
        guard = {"id": job_id, "fence": claim.fence, "incarnation": 7}
        changed = db.execute_prepared(
            "finish_and_take", **{**usual, **guard, "result": result, **values}
        )
        assert changed == 1
        return queue.get(job_id)

    return finish


def status_of(database, name):
    (row,) = database.run_statement(f"SHOW SESSION STATUS LIKE '{name}'")
    return int(row["Value"])


@pytest.mark.parametrize("length", [0, 240, 250, 251, 70_000, 900_000])
def test_a_text_arrives_whole_however_long_it_is(finish, length):
    finish('"short"')
    assert json.loads(finish(json.dumps("x" * length))["result"]) == "x" * length
    assert json.loads(finish('"short again"')["result"]) == "short again"


def test_a_text_is_no_part_of_the_statement(finish):
    assert finish(proxy='it\'s \\ "ü" 100 % ?')["used_proxy"] == 'it\'s \\ "ü" 100 % ?'


def test_nothing_stays_nothing_after_a_value(finish):
    assert finish(proxy="berlin")["used_proxy"] == "berlin"
    assert finish(proxy=None)["used_proxy"] is None


def test_what_no_column_takes_is_bad_data_and_the_statement_is_kept(finish, database):
    with pytest.raises(BadData):
        finish("no JSON")
    assert finish()["status"] == "done"
    assert status_of(database, "Com_stmt_prepare") <= 2


def test_a_statement_is_parsed_once_for_a_connection(finish, database):
    finish()
    before = status_of(database, "Com_stmt_prepare")
    finish()
    assert status_of(database, "Com_stmt_prepare") == before


def test_a_statement_that_the_server_has_forgotten_is_sent_as_text(finish, database):
    finish()
    connection = database._connection
    connection._execute_command(COM_RESET_CONNECTION, "")
    connection._read_ok_packet()

    assert finish()["status"] == "done"
    assert finish()["status"] == "done"
    assert database._connection is connection


def test_a_server_that_keeps_no_statements_gets_them_as_text(finish, settings, mysql):
    with closing(Database(settings)) as db, mysql.cursor() as cursor:
        cursor.execute("SELECT @@GLOBAL.max_prepared_stmt_count")
        (most,) = cursor.fetchone()
        cursor.execute("SET GLOBAL max_prepared_stmt_count = 0")
        try:
            assert finish(db=db)["status"] == "done"
            assert status_of(db, "Com_stmt_execute") == 0
        finally:
            cursor.execute(f"SET GLOBAL max_prepared_stmt_count = {most}")


def test_a_new_connection_prepares_anew(finish, database):
    finish()
    database.close()
    assert finish()["status"] == "done"
    assert status_of(database, "Com_stmt_execute") == 1
