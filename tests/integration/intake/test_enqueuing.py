"""`from worker import enqueue`: a job that belongs to the caller's transaction, or to none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone

import pymysql
import pytest

from tests.lifecycle.conftest import REPO, clean_environment, url_of
from worker import enqueue, task
from worker.errors import PayloadError, UsageError

PAYLOAD = {"url": "https://example.com/🦉", "n": 1}


@pytest.fixture
def connection(settings, database):
    """A caller's own connection, with a character set and settings that are not ours."""
    with closing(
        pymysql.connect(
            user="root",
            unix_socket=settings.unix_socket,
            database=settings.database,
            charset="latin1",
            init_command="SET time_zone = '+05:00', sql_mode = ''",
        )
    ) as connection:
        yield connection


@pytest.fixture
def jobs(database):
    """Read what others see of the queue."""

    def read():
        rows = database.run_statement("SELECT * FROM work_queue ORDER BY id")
        return [{**row, "payload": json.loads(row["payload"])} for row in rows]

    return read


def test_the_callers_commit_keeps_the_job(connection, jobs):
    job_id = enqueue("visit", PAYLOAD, connection=connection)

    assert jobs() == [], "nothing is committed for the caller"
    connection.commit()
    (job,) = jobs()
    assert (job["id"], job["task"], job["payload"]) == (job_id, "visit", PAYLOAD)
    assert (job["status"], job["not_before"], job["dedupe_key"]) == ("pending", None, None)


def test_the_callers_rollback_removes_the_job(connection, jobs):
    assert enqueue("visit", PAYLOAD, connection=connection) is not None
    connection.rollback()

    assert jobs() == []


def test_the_job_and_the_callers_own_rows_come_together(connection, jobs, database):
    database.run_statement("CREATE TABLE orders (id INT PRIMARY KEY)")
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO orders VALUES (1)")
        enqueue("visit", PAYLOAD, connection=connection, dedupe_key="order-1")
    connection.commit()
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO orders VALUES (2)")
        enqueue("visit", PAYLOAD, connection=connection, dedupe_key="order-2")
    connection.rollback()

    assert [job["dedupe_key"] for job in jobs()] == ["order-1"]
    assert database.run_statement("SELECT id FROM orders") == [{"id": 1}]


def test_a_taken_key_is_none_and_the_transaction_goes_on(connection, jobs):
    assert enqueue("visit", {"n": 1}, connection=connection, dedupe_key="a") is not None
    assert enqueue("visit", {"n": 2}, connection=connection, dedupe_key="a") is None
    assert enqueue("visit", {"n": 3}, connection=connection, dedupe_key="b") is not None
    connection.commit()

    assert [job["payload"]["n"] for job in jobs()] == [1, 3]


def test_a_taken_key_is_none_also_where_found_rows_are_counted(settings, database):
    # As SQLAlchemy's connections do: a row that was found counts as changed.
    with closing(
        pymysql.connect(
            user="root",
            unix_socket=settings.unix_socket,
            database=settings.database,
            client_flag=pymysql.constants.CLIENT.FOUND_ROWS,
        )
    ) as connection:
        assert enqueue("visit", {}, connection=connection, dedupe_key="a") is not None
        assert enqueue("visit", {}, connection=connection, dedupe_key="a") is None


def test_everything_a_job_can_have_goes_with_it(connection, jobs):
    moment = datetime(2030, 1, 31, 18, 0, tzinfo=timezone(timedelta(hours=2)))
    given = {
        "priority": -5,
        "max_attempts": 2,
        "timeout_seconds": 90,
        "dedupe_key": "k",
        "callback_url": "https://example.com/hook",
        "profile_id": "p",
        "account_id": "a",
    }
    enqueue("mine", PAYLOAD, connection=connection, not_before=moment, **given)
    connection.commit()

    (job,) = jobs()
    assert {name: job[name] for name in given} == given
    assert job["not_before"] == datetime.fromisoformat("2030-01-31T16:00")
    age = datetime.now(UTC).replace(tzinfo=None) - job["created_at"]
    assert abs(age) < timedelta(minutes=1), "its time is the database's UTC"


def test_a_time_without_zone_is_local(connection, jobs):
    local = datetime(2030, 1, 31, 18, 0)  # noqa: DTZ001
    enqueue("visit", {}, connection=connection, not_before=local)
    connection.commit()

    (job,) = jobs()
    assert job["not_before"] == local.astimezone(UTC).replace(tzinfo=None)


@dataclass
class Product:
    url: str
    count: int = 1


@task("price")
def price(page, payload: Product, job):
    return None


def test_a_task_function_checks_its_payload_and_gives_its_name(connection, jobs):
    enqueue(price, Product("https://example.com"), connection=connection)
    with pytest.raises(PayloadError, match=r"payload\.count: expected a whole number, got 'many'"):
        enqueue(price, {"url": "https://example.com", "count": "many"}, connection=connection)
    connection.commit()

    (job,) = jobs()
    assert (job["task"], job["payload"]) == ("price", {"url": "https://example.com", "count": 1})


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        ({"ok": 1, "when": datetime(2030, 1, 1)}, "payload.when is not JSON: .*datetime"),  # noqa: DTZ001
        ({"tags": {"a", "b"}}, "payload.tags is not JSON: .*set"),
        ({"n": float("nan")}, "payload.n is not JSON"),
        ({"text": "\ud800"}, "half a character"),
        ({"deep": json.loads("[" * 50 + "]" * 50)}, "nested too deeply"),
        (["a"], "the payload is of type list; give a dict"),
        (None, "the payload is of type NoneType; give a dict"),
    ],
)
def test_a_payload_that_is_not_json_is_refused_by_name(connection, jobs, payload, said):
    with pytest.raises(PayloadError, match=said):
        enqueue("visit", payload, connection=connection)

    connection.commit()
    assert jobs() == []


@pytest.mark.parametrize(
    "options",
    [
        {"order_key": "x" * 192},
        {"dedupe_key": ""},
        {"dedupe_key": 7},
        {"max_attempts": 0},
        {"timeout_seconds": 0},
        {"timeout_seconds": "90"},
        {"priority": 2**40},
        {"priority": None},
        {"callback_url": "x" * 2049},
    ],
)
def test_a_value_that_its_column_cannot_hold_is_refused_by_name(connection, jobs, options):
    (name,) = options
    with pytest.raises(UsageError, match=f"enqueue: {name}="):
        enqueue("visit", {}, connection=connection, **options)


def test_a_long_dedupe_key_is_known_again(connection, jobs):
    url = "https://shop.example/?" + "x" * 3_000
    keys = (url, url, url + "y")
    ids = [enqueue("visit", {}, connection=connection, dedupe_key=key) for key in keys]
    assert [each is None for each in ids] == [False, True, False]


def test_a_task_name_too_long_for_its_column_is_refused(connection):
    with pytest.raises(UsageError, match="enqueue: task="):
        enqueue("x" * 65, {}, connection=connection)


def test_what_is_no_connection_is_told():
    with pytest.raises(UsageError, match=r"has no cursor\(\); give a DB-API connection"):
        enqueue("visit", {}, connection=object())


def test_an_error_of_the_driver_is_the_callers_to_see(connection, database):
    database.run_statement("DROP TABLE work_queue")
    with pytest.raises(pymysql.err.ProgrammingError, match="work_queue"):
        enqueue("visit", {}, connection=connection)


def test_without_a_connection_the_settings_say_where_and_the_job_is_committed(
    settings, mysql, monkeypatch, tmp_path
):
    # An empty database: it gets its schema first. The setting stands in a file, as most do.
    (tmp_path / "env").write_text(f"DATABASE_URL={url_of(settings)}\n", encoding="ascii")
    for name in [name for name in os.environ if name.startswith(("DATABASE_URL", "MYSQL_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("NIGHTSHIFT_ENV_FILE", str(tmp_path / "env"))

    job_id = enqueue("visit", PAYLOAD, dedupe_key="a")

    assert enqueue("visit", PAYLOAD, dedupe_key="a") is None
    assert "DATABASE_URL" not in os.environ, "the caller's environment stays as it was"
    with mysql.cursor() as cursor:
        cursor.execute("SELECT id, dedupe_key FROM work_queue")
        assert list(cursor.fetchall()) == [(job_id, "a")]


def test_without_any_setting_the_private_server_is_started(tmp_path):
    script = "from worker import enqueue; print(enqueue('visit', {'url': 'https://example.com'}))"
    environment = clean_environment(tmp_path)

    def python(*arguments):
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=REPO,
            env=environment,
            capture_output=True,
            text=True,
            timeout=90,
            check=False,
        )

    try:
        first, second = python("-c", script), python("-c", script)
        assert (first.stdout, second.stdout) == ("1\n", "2\n"), first.stderr + second.stderr
    finally:
        stopped = python("launcher.py", "db", "stop")
    assert stopped.returncode == 0, stopped.stderr


@pytest.mark.parametrize(
    "manifest",
    [
        *({"profil": "p1"}, "p1", 5, ["p1"], {"exclusive": "yes"}, {"proxy": "berlin"}),
        {"proxy": "berlin", "account": "a1", "temporary": True},
    ],
)
def test_a_manifest_that_is_not_understood_is_refused(connection, jobs, manifest):
    with pytest.raises(PayloadError, match="manifest"):
        enqueue("visit", {**PAYLOAD, "manifest": manifest}, connection=connection)

    connection.commit()
    assert jobs() == []


TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def test_a_traceparent_is_stored_in_the_payload_and_need_not_be_declared(connection, jobs):
    @dataclass
    class Shape:
        url: str

    @task("declared")
    def declared(page, payload, job):
        pass

    enqueue("visit", PAYLOAD, connection=connection, traceparent=TRACEPARENT)
    enqueue(declared, Shape("https://a.example"), connection=connection, traceparent=TRACEPARENT)
    connection.commit()

    first, second = jobs()
    assert first["payload"] == {**PAYLOAD, "traceparent": TRACEPARENT}
    assert second["payload"] == {"url": "https://a.example", "traceparent": TRACEPARENT}


def test_a_malformed_traceparent_is_refused(connection, jobs):
    with pytest.raises(UsageError, match="traceparent='00-zero'; give a W3C one"):
        enqueue("visit", PAYLOAD, connection=connection, traceparent="00-zero")

    connection.commit()
    assert jobs() == []
