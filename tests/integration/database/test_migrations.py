"""The schema comes by itself, once, and whatever is not ours or not of our age is refused."""

from __future__ import annotations

import re
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from worker.database import migrations
from worker.database.client import DatabaseError
from worker.database.locks import Lock
from worker.errors import BadData, NightshiftError, SchemaMismatch

REAL_STEPS = migrations.steps
NAMES = list(dict.fromkeys(step.name for step in REAL_STEPS()))


@pytest.fixture
def db(connect):
    """A connection to this test's database, which is still empty."""
    return connect()


@pytest.fixture
def write_migration(tmp_path, monkeypatch):
    """Put another file after the real migrations, or over one of them."""

    def write(name: str, text: str) -> None:
        for path in migrations.MIGRATIONS_DIR.glob("*.sql"):
            if not (tmp_path / path.name).exists():
                (tmp_path / path.name).write_text(path.read_text())
        (tmp_path / name).write_text(text)
        monkeypatch.setattr(migrations, "steps", lambda: REAL_STEPS(tmp_path))

    return write


def tables(db):
    return {next(iter(row.values())) for row in db.run_statement("SHOW TABLES")}


def made_tables():
    texts = "\n".join(step.sql for step in migrations.steps())
    return set(re.findall(r"CREATE TABLE IF NOT EXISTS (\w+)", texts))


def recorded(db):
    return db.run_statement("SELECT * FROM schema_migrations ORDER BY version, step")


def test_an_empty_database_gets_the_schema_by_itself(db):
    assert migrations.ensure(db) == NAMES
    assert tables(db) == made_tables() | {"schema_migrations"}
    assert {"work_queue", "job_attempts", "runs", "workers", "control"} <= tables(db)
    assert migrations.pending(db) == []


def test_a_database_that_is_up_to_date_is_left_as_it_is(db):
    migrations.ensure(db)
    before = recorded(db)
    assert migrations.ensure(db) == []
    assert migrations.migrate(db) == []
    assert recorded(db) == before


def test_an_older_schema_is_refused_with_the_command_to_run(db, write_migration):
    migrations.ensure(db)
    write_migration("9001_nests.sql", "CREATE TABLE nests (id INT PRIMARY KEY);\n")

    with pytest.raises(SchemaMismatch, match=r"9001_nests.*python launcher\.py migrate"):
        migrations.ensure(db)

    assert "nests" not in tables(db)
    assert migrations.pending(db) == ["9001_nests"]
    assert migrations.migrate(db) == ["9001_nests"]
    assert migrations.ensure(db) == []


def test_a_newer_schema_is_refused(db):
    migrations.ensure(db)
    db.run_statement(
        "INSERT INTO schema_migrations VALUES (9001, 1, '9001_nests', REPEAT('0', 64), NOW(6))"
    )
    for step in (migrations.ensure, migrations.migrate, migrations.pending):
        with pytest.raises(SchemaMismatch, match=r"9001.*newer than the code; update the code"):
            step(db)


def test_a_migration_changed_after_it_was_applied_is_refused(db, write_migration):
    migrations.ensure(db)
    first = next(migrations.MIGRATIONS_DIR.glob("0001_*.sql"))
    write_migration(first.name, first.read_text().replace("VARCHAR(191)", "VARCHAR(190)"))
    for step in (migrations.ensure, migrations.migrate):
        with pytest.raises(SchemaMismatch, match=f"{first.stem} was changed after"):
            step(db)


def test_a_comment_may_be_reworded_after_its_migration_was_applied(db, write_migration):
    migrations.ensure(db)
    first = next(migrations.MIGRATIONS_DIR.glob("0001_*.sql"))
    write_migration(first.name, "-- In other words.\n" + first.read_text())
    assert migrations.ensure(db) == []


def test_a_queue_table_that_is_not_ours_is_refused_and_left_alone(db):
    db.run_statement("CREATE TABLE work_queue (id INT PRIMARY KEY)")
    with pytest.raises(SchemaMismatch, match="work_queue that Nightshift did not make"):
        migrations.ensure(db)
    assert tables(db) == {"work_queue"}


def test_a_migration_cut_off_midway_goes_on_where_it_stopped(db, write_migration):
    begun = "CREATE TABLE nests (id INT PRIMARY KEY);\nINSERT INTO nests VALUES (1);\n"
    write_migration("9001_nests.sql", f"{begun}INSERT INTO no_such_table VALUES (1);\n")
    with pytest.raises(DatabaseError):
        migrations.migrate(db)

    write_migration("9001_nests.sql", f"{begun}INSERT INTO nests VALUES (2);\n")
    assert migrations.migrate(db) == ["9001_nests"]

    assert [row["id"] for row in db.run_statement("SELECT id FROM nests ORDER BY id")] == [1, 2]


@pytest.mark.parametrize("way", [migrations.migrate, migrations.ensure])
def test_processes_that_migrate_at_once_apply_every_step_once(connect, write_migration, way):
    # A step that takes its time, so that the others come in the middle of it.
    write_migration("9001_nests.sql", "DO SLEEP(0.3);\nCREATE TABLE nests (id INT PRIMARY KEY);\n")
    start = threading.Barrier(4)

    def migrate(delay):
        db = connect()
        db.ping()
        start.wait(timeout=20)
        db.run_statement(f"DO SLEEP({delay})")
        return way(db)

    with ThreadPoolExecutor(4) as pool:
        applied = list(pool.map(migrate, (0, 0, 0.1, 0.2)))

    assert sorted(applied, key=len) == [[], [], [], [*NAMES, "9001_nests"]]
    assert len(recorded(connect())) == len(migrations.steps())


def test_waiting_for_another_process_to_migrate_outlasts_one_read(connect):
    holder, waiter = connect(), connect(read_timeout_seconds=2)
    lock = Lock("migrate")
    assert lock.take(holder)
    with ThreadPoolExecutor(1) as pool:
        applied = pool.submit(migrations.migrate, waiter)
        holder.run_statement("DO SLEEP(2.5)")
        lock.release(holder)
        assert applied.result(timeout=20) == NAMES


def test_a_job_with_an_unknown_status_becomes_a_dead_letter_and_the_next_is_refused(
    db, write_migration, monkeypatch
):
    write_migration("0029_known_statuses.sql", "SELECT 1;\n")
    migrations.ensure(db)
    db.run_statement("SET SESSION sql_mode = ''")
    db.run_statement("INSERT INTO work_queue (payload, status) VALUES ('{}', 'queued')")
    db.run_statement("DELETE FROM schema_migrations WHERE version = 29")
    monkeypatch.setattr(migrations, "steps", REAL_STEPS)

    migrations.migrate(db)

    (job,) = db.run_statement("SELECT status, finished_at, last_error FROM work_queue")
    assert (job["status"], job["finished_at"] is None) == ("error", False)
    assert "it was never run" in job["last_error"]
    for status in ("queued", ""):
        with pytest.raises(BadData):
            db.run_statement(
                f"INSERT INTO work_queue (payload, status) VALUES ('{{}}', '{status}')"
            )
    db.run_statement("DELETE FROM schema_migrations WHERE version = 29")
    assert migrations.migrate(db) == ["0029_known_statuses"]


def test_a_job_with_an_empty_owner_becomes_a_dead_letter_and_the_next_is_refused(
    db, write_migration, monkeypatch
):
    write_migration("0046_owners_are_named.sql", "SELECT 1;\n")
    migrations.ensure(db)
    for values in ("'', NULL, 'pending'", "'p1', '', 'pending'", "'', 'a1', 'done'"):
        db.run_statement(
            "INSERT INTO work_queue (payload, profile_id, account_id, status)"
            f" VALUES ('{{}}', {values})"
        )
    db.run_statement("DELETE FROM schema_migrations WHERE version = 46")
    monkeypatch.setattr(migrations, "steps", REAL_STEPS)

    migrations.migrate(db)

    jobs = db.run_statement("SELECT * FROM work_queue ORDER BY id")
    assert [job["status"] for job in jobs] == ["error", "error", "done"]
    assert "empty profile_id or account_id" in jobs[0]["last_error"]
    owners = [(job["profile_id"], job["account_id"]) for job in jobs]
    assert owners == [(None, None), ("p1", None), (None, "a1")]
    for column in ("profile_id", "account_id"):
        with pytest.raises(BadData):
            db.run_statement(f"INSERT INTO work_queue (payload, {column}) VALUES ('{{}}', '')")
    db.run_statement("DELETE FROM schema_migrations WHERE version = 46")
    assert migrations.migrate(db) == ["0046_owners_are_named"]


@pytest.mark.parametrize(
    "column", ["attempts = 2147483647", "fence = 9223372036854775807", "crashes = 2147483647"]
)
def test_a_row_whose_counter_has_no_room_is_refused(database, queue, column):
    job = queue.enqueue("visit", {})

    with pytest.raises((DatabaseError, NightshiftError), match="counters_have_room"):
        database.run_statement(f"UPDATE work_queue SET {column} WHERE id = {job}")

    assert queue.get(job)["attempts"] == 0
