"""What real servers say when they are in trouble, and what becomes of it: a wait, or one line."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from worker.database import server_errors
from worker.database.client import Database, DatabaseError
from worker.errors import BadData, DatabaseUnavailable

PASSING = (1021, 1030, 1041, 1053, 1114, 1129, 1135, 1180, 1203, 1206, 1226, 1290, 1792, 1836)
PASSING += (1047, 3032, 3100, 3168, 3169, 3797, 3798, 29999)


@pytest.fixture
def trouble(database):
    """A table that refuses every row with the error it is told; each row asks for one number."""
    database.run_statement("CREATE TABLE told (code INT, message VARCHAR(120)) ENGINE = InnoDB")
    database.run_statement("CREATE TABLE troubled (id INT AUTO_INCREMENT PRIMARY KEY)")
    database.run_statement(
        "CREATE TRIGGER refuse BEFORE INSERT ON troubled FOR EACH ROW BEGIN "
        "DECLARE said VARCHAR(120); DECLARE number INT; "
        "SELECT code, message INTO number, said FROM told; "
        "IF number IS NOT NULL THEN "
        "SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = number, MESSAGE_TEXT = said; END IF; END"
    )

    def tell(code: int | None, message: str = "so it is") -> None:
        database.run_statement("DELETE FROM told")
        database.run_statement(
            "INSERT INTO told VALUES (%(code)s, %(message)s)", {"code": code, "message": message}
        )

    return tell


@pytest.fixture
def patient(connect):
    """A connection that waits for what passes, and the list of how often it was asked to go on."""

    def make(changes=None):
        asked: list[int] = []
        db = connect(changes, patience_seconds=30, keep_waiting=lambda: asked.append(1) is None)
        return db, asked

    return make


def insert(db: Database) -> int:
    return db.transaction(_insert)


def _insert(tx) -> int:
    with tx._connection.cursor() as cursor:
        return cursor.execute("INSERT INTO troubled () VALUES ()")


def connection_id(db: Database) -> int:
    return db.run_statement("SELECT CONNECTION_ID() AS id")[0]["id"]


@pytest.mark.parametrize("code", PASSING)
def test_an_error_that_passes_is_waited_for_and_told_as_absence(
    trouble, connect, patient, eventually, code
):
    trouble(code, "not today")
    with pytest.raises(DatabaseUnavailable, match="not today") as caught:
        insert(connect())
    assert "\n" not in str(caught.value)

    db, asked = patient()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(insert, db)
        eventually(lambda: len(asked) >= 2)
        trouble(None)
        assert waiting.result(timeout=20) == 1


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (1213, "Deadlock found"),
        (3101, "Plugin instructed the server to rollback the current transaction."),
        (1180, "Got error 149 'Lock deadlock; Retry transaction' during COMMIT"),
        (1020, "Record has changed since last read"),
    ],
)
def test_a_conflict_is_tried_again_at_once_and_without_any_patience(
    trouble, connect, code, message
):
    trouble(code, message)
    tries = []

    def work(tx):
        tries.append(1)
        if len(tries) == 3:
            trouble(None)
        return _insert(tx)

    assert connect().transaction(work) == 1
    assert len(tries) == 3


def test_an_insert_is_done_again_only_if_it_was_undone_for_certain(trouble, connect):
    db, tries = connect(), []

    def write(connection) -> int:
        tries.append(1)
        if len(tries) == 3:
            trouble(None)
        with connection.cursor() as cursor:
            return cursor.execute("INSERT INTO troubled () VALUES ()")

    trouble(1213, "Deadlock found")
    assert db._once(write, tries=5) == 1
    assert len(tries) == 3

    trouble(1053, "Server shutdown in progress")
    with pytest.raises(DatabaseUnavailable):
        db._once(write, tries=5)
    assert len(tries) == 4


def test_a_conflict_that_never_ends_is_told_as_absence(trouble, connect):
    trouble(1213, "Deadlock found")
    with pytest.raises(DatabaseUnavailable, match="others were in the way too often"):
        insert(connect())


@pytest.mark.parametrize("code", [1048, 1406, 1644, 4025])
def test_bad_data_is_never_waited_for(trouble, connect, code):
    trouble(code, "no such value")
    with pytest.raises(BadData, match="no such value"):
        insert(connect(patience_seconds=60))


@pytest.mark.parametrize("code", [1054, 1064, 1146])
def test_our_own_bug_is_seen_whole_at_once(trouble, connect, code):
    trouble(code)
    with pytest.raises(DatabaseError):
        insert(connect(patience_seconds=60))


@pytest.mark.parametrize(("code", "stays"), [(1114, True), (1030, True), (1290, False)])
def test_named_locks_survive_a_full_disk_but_a_failover_is_left_behind(
    trouble, connect, code, stays
):
    db = connect()
    before = connection_id(db)
    trouble(code)
    with pytest.raises(DatabaseUnavailable):
        insert(db)
    assert (connection_id(db) == before) is stays


def test_no_number_is_both_final_and_worth_a_wait():
    waited_for = server_errors.CONFLICTS | server_errors.BUSY | server_errors.CONNECTION_LOST
    waited_for |= set().union(*(codes for codes, _, _ in server_errors.ADVICE))
    assert waited_for & server_errors.FINAL == set()


@contextmanager
def killing_queries_of(db: Database, admin: Database) -> Iterator[list[int]]:
    """End whatever query that connection is at, again and again."""
    killed: list[int] = []
    is_over = threading.Event()
    target = connection_id(db)

    def kill() -> None:
        while not is_over.wait(0.02):
            for row in admin.run_statement("SHOW PROCESSLIST"):
                if row["Id"] == target and "SLEEP" in (row["Info"] or ""):
                    admin.run_statement(f"KILL QUERY {target}")
                    killed.append(1)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        is_over.set()
        thread.join()


# SLEEP alone would only come back early on MySQL; as a WHERE of many rows it is an error.
SLOW = "SELECT COUNT(*) AS n FROM information_schema.columns WHERE SLEEP(%(seconds)s) = 0"


def read_slowly(db: Database, seconds: float) -> object:
    def run(connection):
        with connection.cursor() as cursor:
            cursor.execute(SLOW, {"seconds": seconds})
            return cursor.fetchall()

    return db._retried(run)


def test_a_killed_query_of_a_command_is_told_in_one_line(database, connect):
    db = connect()
    with (
        killing_queries_of(db, connect()) as killed,
        pytest.raises(DatabaseUnavailable, match="somebody ended the query on the server"),
    ):
        read_slowly(db, 1)
    assert len(killed) == 1


def test_a_killed_query_of_a_worker_is_tried_again_but_not_for_ever(database, connect, monkeypatch):
    monkeypatch.setattr("worker.database.retrying.INTERRUPTED_TRIES", 3)
    db = connect(patience_seconds=float("inf"))
    with killing_queries_of(db, connect()) as killed, pytest.raises(DatabaseUnavailable):
        read_slowly(db, 1)
    assert len(killed) == 3


def test_a_user_with_too_many_connections_waits_for_one(
    make_user, connect, patient, mysql, eventually
):
    user = make_user("owl", "secret")
    with mysql.cursor() as cursor:
        cursor.execute("ALTER USER owl@localhost WITH MAX_USER_CONNECTIONS 2")
    as_owl = {"user": user, "password": "secret"}
    first, second = connect(as_owl), connect(as_owl)
    first.ping()
    second.ping()
    with pytest.raises(DatabaseUnavailable, match="the user has too many connections"):
        connect(as_owl).ping()

    third, asked = patient(as_owl)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(third.ping)
        eventually(lambda: len(asked) >= 2)
        first.close()
        waiting.result(timeout=20)


def test_a_server_in_offline_mode_is_waited_for(
    make_user, connect, patient, mysql, server, eventually
):
    if server.status().flavour != "mysql":
        pytest.skip("only MySQL has an offline mode")
    as_owl = {"user": make_user("owl", "secret"), "password": "secret"}
    db, asked = patient(as_owl)
    db.ping()
    with mysql.cursor() as cursor, ThreadPoolExecutor(1) as pool:
        cursor.execute("SET GLOBAL offline_mode = ON")
        try:
            with pytest.raises(DatabaseUnavailable, match="the server is in offline mode"):
                connect(as_owl).ping()
            waiting = pool.submit(db.ping)
            eventually(lambda: len(asked) >= 2)
        finally:
            cursor.execute("SET GLOBAL offline_mode = OFF")
        waiting.result(timeout=20)


def test_a_full_table_is_waited_for_until_somebody_makes_room(
    database, connect, patient, eventually
):
    database.run_statement("SET SESSION max_heap_table_size = 16384")
    database.run_statement("CREATE TABLE crowded (line CHAR(200)) ENGINE = MEMORY")
    filler = connect()
    with pytest.raises(DatabaseUnavailable, match="disk or table space is full"):
        write(filler, rows=10_000)

    db, asked = patient()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(write, db)
        eventually(lambda: len(asked) >= 2)
        database.run_statement("DELETE FROM crowded")
        assert waiting.result(timeout=20) == 1


def write(db: Database, rows: int = 1) -> int:
    def run(connection) -> int:
        with connection.cursor() as cursor:
            return sum(cursor.execute("INSERT INTO crowded VALUES ('x')") for _ in range(rows))

    return db._retried(run)
