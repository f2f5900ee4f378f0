"""No question about figures reads a table whole: the server's plans and counters say so."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.integration.claiming.rows import rows_read
from tests.integration.reporting.conftest import work_off
from worker.database.client import Database
from worker.database.statements import query
from worker.recovery import live_runs
from worker.reporting import events, figures, lanes, outlook
from worker.reporting.spans import MINUTE

JOBS = 3000
# So many rows ended within the time that is asked for.
RECENT = 30
# Temporary tables of a statement, and what an index has between two places.
OVERHEAD = 10
# MySQL draws a tree where it is not told otherwise; MariaDB does not read that half.
EXPLAIN = "EXPLAIN /*!80000 FORMAT=TRADITIONAL */"

# Attempts and an archive, whose statements are planned by what there is of them.
OLD_ONES = (
    "INSERT INTO job_attempts (job_id, fence, attempt, outcome, started_at, finished_at) "
    "SELECT id, 0, 1, 'retry', started_at, finished_at - INTERVAL 1 DAY FROM work_queue",
    "INSERT INTO archived_attempts (job_id, fence, attempt, outcome, started_at, finished_at, "
    "archived_at) SELECT job_id, 0, 1, 'retry', started_at, finished_at, finished_at "
    "FROM job_attempts",
    "INSERT INTO archived_jobs (id, payload, status, attempts, task, priority, fence, created_at, "
    "changed_at, blocks, crashes, forgiven, started_at, finished_at, archived_at, archived_by, "
    "archive_reason) SELECT id, '{}', 'done', 1, task, 0, 1, created_at, changed_at, 0, 0, 0, "
    "started_at, finished_at - INTERVAL 1 DAY, finished_at, 'me', 'old' FROM work_queue",
    "ANALYZE TABLE work_queue, job_attempts, archived_attempts, archived_jobs",
)


@pytest.fixture
def much(database, keeper, now):
    """Many jobs that ended long ago, and a few of the last hour."""
    database.run_statement(
        "INSERT INTO work_queue (payload, status, created_at, started_at, finished_at) VALUES "
        + ", ".join(
            f"('{{}}', 'done', '{at - 2 * MINUTE.length}', '{at - MINUTE.length}', '{at}')"
            for at in [now - timedelta(days=3, minutes=number) for number in range(JOBS)]
            + [now - timedelta(minutes=3 + number) for number in range(RECENT)]
        )
    )
    for statement in OLD_ONES:
        database.run_statement(statement)
    work_off(keeper)
    return now


QUESTIONS = {
    "per minute": figures.per_minute,
    "totals": figures.totals,
    "per worker": figures.per_worker,
    "timeline": lanes.timeline,
    "events": events.between,
    "outlook": lambda db, since, until: outlook.outlook(db),
    "live runs": lambda db, since, until: live_runs.alive(db),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_reads_what_it_tells_and_little_more(connect, much, name):
    db = connect()
    QUESTIONS[name](db, much - timedelta(hours=1), much)
    before = rows_read(db)

    QUESTIONS[name](db, much - timedelta(hours=1), much)

    assert rows_read(db) - before < OVERHEAD * RECENT < JOBS / 2


def test_a_beat_of_the_duty_reads_the_minutes_that_closed_and_little_more(connect, keeper, much):
    db = keeper.writer.db
    db.run_statement(
        "UPDATE rollup_writer SET counted_until = counted_until - INTERVAL 40 MINUTE, "
        "settled_until = settled_until - INTERVAL 40 MINUTE"
    )
    before = rows_read(db)

    assert keeper.beat()

    assert rows_read(db) - before < 20 * RECENT < JOBS


def test_no_statement_scans_a_table(database, much, monkeypatch):
    asked = []
    fetch_all = Database.fetch_all

    def noted(db, name, /, *args, **params):
        asked.append((name, params))
        return fetch_all(db, name, *args, **params)

    monkeypatch.setattr(Database, "fetch_all", noted)
    for ask in QUESTIONS.values():
        ask(database, much - timedelta(hours=1), much)
    monkeypatch.undo()
    assert len({name for name, _ in asked}) > 7

    for name, params in asked:
        for row in database.run_statement(f"{EXPLAIN} {query(name)}", params):
            is_own = str(row["table"]).startswith("<") or row["table"] in (None, "e", "g", "ended")
            assert is_own or row["type"] not in ("ALL", "index"), (name, row)
