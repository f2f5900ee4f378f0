"""The connection: its settings, what it tries again, and the one line it gives up with."""

from __future__ import annotations

import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pymysql
import pytest

from tests.conftest import QueueForTests, because
from tests.integration.database.conftest import WANTED_SESSION, over_tcp, refusal, session
from worker.database import migrations
from worker.database.client import Database
from worker.database_settings import DatabaseSettings, database_settings
from worker.errors import (
    AccessDenied,
    BadData,
    DatabaseUnavailable,
    NightshiftError,
    UsageError,
)

PASSWORD = "p@ss/w:rd?#%ü"
WHY = because("the page was grey")


OPEN_FILES = Path("/proc/self/fd")


@pytest.fixture
def row_lock(settings):
    """Another client that holds the history of a claim, and will not let go by itself."""
    other = pymysql.connect(
        unix_socket=settings.unix_socket, user="root", database="nightshift_test"
    )
    with other, other.cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute(
            "INSERT INTO job_attempts (job_id, fence, attempt, outcome, finished_at)"
            " VALUES (1, 1, 1, 'swept', NOW(6))"
        )
        yield cursor


def waits_for_locks(database):
    """Count how often anybody had to wait for a row lock since the server's start."""
    (row,) = database.run_statement("SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_waits'")
    return int(row["Value"])


def test_a_value_too_long_for_its_column_is_told_as_bad_data(queue):
    with pytest.raises(BadData, match="task"):
        queue.enqueue("t" * 65, {})
    assert queue.counts()["pending"] == 0


def test_the_loser_of_a_deadlock_is_tried_again_until_it_wins(
    database, queue, claim_as, connect, row_lock, eventually
):
    queue.enqueue("visit", {})
    claim = claim_as()
    waits = waits_for_locks(database)
    # The server rolls back the smaller transaction, so the other one makes itself large.
    row_lock.execute(
        "INSERT INTO job_attempts (job_id, fence, attempt, outcome, finished_at) VALUES "
        + ", ".join(f"({number}, 1, 1, 'swept', NOW(6))" for number in range(100, 600))
    )
    with ThreadPoolExecutor(1) as pool:
        settled = pool.submit(QueueForTests(connect()).fail, claim, WHY)
        eventually(lambda: waits_for_locks(database) > waits)
        row_lock.execute("UPDATE work_queue SET priority = 7 WHERE id = 1")
        row_lock.execute("ROLLBACK")
        assert settled.result(timeout=30) == "error"

    assert queue.get(claim.job_id)["status"] == "error"
    assert [attempt["outcome"] for attempt in queue.history(claim.job_id)] == ["error"]


def test_a_lock_waited_for_too_long_is_tried_again_as_a_whole(
    database, queue, claim_as, connect, row_lock, eventually
):
    queue.enqueue("visit", {})
    claim = claim_as()
    waits = waits_for_locks(database)
    db = connect()
    db.run_statement("SET SESSION innodb_lock_wait_timeout = 1")
    with ThreadPoolExecutor(1) as pool:
        settled = pool.submit(QueueForTests(db).fail, claim, WHY)
        # The second wait is that of the second try: the first has timed out.
        eventually(lambda: waits_for_locks(database) >= waits + 2)
        assert queue.get(claim.job_id)["status"] == "in_progress"
        row_lock.execute("ROLLBACK")
        assert settled.result(timeout=30) == "error"

    assert [attempt["outcome"] for attempt in queue.history(claim.job_id)] == ["error"]


def test_a_patient_call_outlasts_a_killed_server(own_server, eventually):
    # Over TCP, because PyMySQL leaves the unix sockets that were refused to the garbage collector.
    settings = replace(over_tcp(own_server), database="patient")
    with closing(Database(replace(settings, database=""))) as root:
        root.run_statement("CREATE DATABASE IF NOT EXISTS patient")
    with (
        closing(Database(settings, patience_seconds=60)) as db,
        closing(Database(settings)) as hasty,
        ThreadPoolExecutor(1) as pool,
    ):
        migrations.ensure(db)
        job_id = QueueForTests(db).enqueue("visit", {})
        hasty.ping()
        own_server.kill()
        reading = pool.submit(QueueForTests(db).get, job_id)
        began = time.monotonic()
        for _ in range(2):
            assert "cannot be reached" in refusal(hasty)
        # The patient one would have gone on for a minute.
        assert time.monotonic() - began < 20
        assert not reading.done()

        own_server.start()

        assert reading.result(timeout=60)["status"] == "pending"
        assert session(db) == WANTED_SESSION


def test_a_worker_told_to_stop_does_not_wait_for_an_absent_server(settings, closed_port):
    absent = replace(settings, unix_socket=None, host="127.0.0.1", port=closed_port)
    answers = iter([True, True, False])
    db = Database(absent, patience_seconds=60, keep_waiting=lambda: next(answers))
    assert "cannot be reached" in refusal(db)
    assert list(answers) == []


def test_an_insert_that_may_have_arrived_is_not_repeated(queue, connect, lose_the_next_answer):
    db = connect(patience_seconds=20)
    db.ping()
    ping = db.ping
    # The loss comes after the check of the connection, with the statement itself.
    db.ping = lambda: (ping(), lose_the_next_answer(db))
    with pytest.raises(DatabaseUnavailable):
        QueueForTests(db).enqueue("visit", {})
    assert queue.counts()["pending"] == 1


def test_a_refused_port_is_named(settings, closed_port):
    absent = replace(settings, unix_socket=None, host="127.0.0.1", port=closed_port)
    text = refusal(Database(absent))
    assert f"127.0.0.1:{closed_port}" in text
    assert "check that it runs" in text


def test_a_host_without_an_address_is_named(settings, monkeypatch):
    def unknown(*_args, **_options):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    elsewhere = replace(settings, unix_socket=None, host="nowhere.invalid")
    assert "nowhere.invalid:3306" in refusal(Database(elsewhere))


def test_a_host_that_cannot_be_a_name_is_named(settings):
    elsewhere = replace(settings, unix_socket=None, host="db..example")
    assert "db..example:3306" in refusal(Database(elsewhere), NightshiftError)


def test_an_unknown_database_is_told_with_the_statement_that_makes_it(settings):
    text = refusal(Database(replace(settings, database="nowhere")))
    assert "CREATE DATABASE `nowhere` CHARACTER SET utf8mb4" in text


def test_a_connection_that_went_dead_ends_in_its_read_timeout(settings, proxy):
    through = replace(settings, unix_socket=None, host="127.0.0.1", port=proxy.port)
    db = Database(through, read_timeout_seconds=1)
    db.ping()
    proxy.go_dead()
    for _ in range(2):
        began = time.monotonic()
        assert "timed out" in refusal(db)
        # A connection's ordinary patience is fifteen seconds.
        assert time.monotonic() - began < 8


def test_a_wrong_password_is_told_without_it(make_user, connect):
    user = make_user("owl", PASSWORD)
    db = connect({"user": user, "password": "not-the-secret"})
    text = refusal(db, AccessDenied)
    assert "refuses user 'owl': wrong user or password" in text
    assert "not-the-secret" not in text


@pytest.mark.parametrize("password", [PASSWORD, "密码 'quoted\" \\ 🦉", "%41%zz+ &=;"])
@pytest.mark.parametrize("how", ["percent-encoded", "parts"])
def test_any_password_gets_in(database, make_user, settings, how, password):
    user = make_user("owl", password)
    query = f"?socket={quote(settings.unix_socket)}"
    if how == "parts":
        environ = {
            "MYSQL_USER": user,
            "MYSQL_PASSWORD": password,
            "MYSQL_SOCKET": settings.unix_socket,
            "MYSQL_DATABASE": "nightshift_test",
        }
    else:
        secret = quote(password, safe="")
        environ = {"DATABASE_URL": f"mysql://{user}:{secret}@localhost/nightshift_test{query}"}
    with closing(Database(database_settings(environ))) as db:
        assert db.run_statement("SELECT CURRENT_USER() AS me") == [{"me": "owl@localhost"}]


def test_a_password_that_is_not_encoded_gets_in_too(database, make_user, settings):
    url = f"mysql://{make_user('owl', PASSWORD)}:{PASSWORD}@localhost/nightshift_test"
    environ = {"DATABASE_URL": f"{url}?socket={settings.unix_socket}"}
    with closing(Database(database_settings(environ))) as db:
        assert QueueForTests(db).counts()["pending"] == 0


@pytest.mark.parametrize("rights", [None, "SELECT"])
def test_a_missing_right_is_told_with_the_grant_that_gives_it(make_user, connect, rights):
    user = make_user("owl", "the-secret", rights)
    with pytest.raises(AccessDenied, match="'owl' lacks a right") as caught:
        migrations.ensure(connect({"user": user, "password": "the-secret"}))
    assert "GRANT ALL ON `nightshift_test`.*" in str(caught.value)
    assert "the-secret" not in str(caught.value)


def test_waiting_for_an_absent_server_keeps_no_socket_open(tmp_path):
    nowhere = DatabaseSettings(unix_socket=str(tmp_path / "no.sock"))
    before = len(list(OPEN_FILES.iterdir()))

    for _ in range(20):
        refusal(Database(nowhere))

    assert len(list(OPEN_FILES.iterdir())) <= before


def test_what_is_refused_within_a_transaction_is_undone_on_the_same_connection(database):
    def refuse(tx):
        tx.execute("set_control", name="pause", reason="for now", set_by="me")
        raise UsageError("not today")

    (before,) = database.run_statement("SELECT CONNECTION_ID() AS id")
    with pytest.raises(UsageError):
        database.transaction(refuse)

    assert database.run_statement("SELECT CONNECTION_ID() AS id") == [before]
    assert database.fetch_one("get_control", name="pause") is None
