"""What tests of figures need: jobs that ended when a test wants, and a count made another way."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from worker.database.client import Database
from worker.queue import runs
from worker.reporting import figures
from worker.reporting.rollups import Rollups
from worker.settings import RunSettings

WORKERS = 2


@pytest.fixture
def now(database: Database) -> datetime:
    """The database's time when the test begins."""
    moment: datetime = database.fetch_all("database_time")[0]["now"]
    return moment


@pytest.fixture
def new_run(database: Database) -> Callable[..., int]:
    """Record a run, and return its number."""

    def new_run(pid: int = 1) -> int:
        settings = RunSettings(database=database.settings, workers=WORKERS, total=WORKERS)
        return runs.start_run(database, settings, pid)

    return new_run


@pytest.fixture
def ended(database: Database) -> Callable[..., int]:
    """Put in a done job that ended at a moment, and return its number."""

    def ended(
        at: datetime,
        *,
        task: str = "visit",
        seconds: float = 2.0,
        waited: float = 5.0,
        attempts: int = 1,
        incarnation: int | None = None,
    ) -> int:
        started = at - timedelta(seconds=seconds)
        database.run_statement(
            "INSERT INTO work_queue (payload, task, status, attempts, fence, incarnation, "
            "worker_id, created_at, started_at, finished_at) VALUES ('{}', %(task)s, 'done', "
            "%(attempts)s, %(attempts)s, %(incarnation)s, 0, %(created)s, %(started)s, %(at)s)",
            {
                "task": task,
                "attempts": attempts,
                "incarnation": incarnation,
                "created": started - timedelta(seconds=waited),
                "started": started,
                "at": at,
            },
        )
        rows = database.run_statement("SELECT MAX(id) AS id FROM work_queue")
        return int(rows[0]["id"])

    return ended


@pytest.fixture
def attempted(database: Database) -> Callable[..., None]:
    """Put an attempt that ended at a moment into a job's history."""

    def attempted(job_id: int, at: datetime, outcome: str, *, fence: int, failed: bool) -> None:
        database.run_statement(
            "INSERT INTO job_attempts (job_id, fence, attempt, outcome, started_at, finished_at, "
            "ready_at, has_ended_job) VALUES (%(job)s, %(fence)s, %(fence)s, %(outcome)s, "
            "%(at)s - INTERVAL 3 SECOND, %(at)s, %(at)s - INTERVAL 10 SECOND, %(failed)s)",
            {"job": job_id, "fence": fence, "outcome": outcome, "at": at, "failed": failed},
        )

    return attempted


@pytest.fixture
def keeper(database: Database) -> Rollups:
    """One who keeps the roll-ups."""
    return Rollups.of(database, "a test")


def work_off(keeper: Rollups, most: int = 10_000) -> None:
    """Let the duty do all there is to do."""
    for _ in range(most):
        if not keeper.beat():
            return
    raise AssertionError("the duty never comes to its end")


def told(database: Database, table: str = "task_rollups", span: str = "minute") -> list[Any]:
    """Read a roll-up table whole, in an order of its own."""
    rows = database.run_statement(f"SELECT * FROM {table} WHERE span = '{span}'")
    for row in rows:
        for name in ("durations", "waits"):
            row[name] = json.loads(row[name])
    return sorted(tuple(map(str, row.values())) for row in rows)


def counted_by_hand(database: Database) -> Counter[tuple[str, str]]:
    """Count all attempts by task and outcome without the roll-ups, from every row there is."""
    counts: Counter[tuple[str, str]] = Counter()
    for queue, history in (("work_queue", "job_attempts"), ("archived_jobs", "archived_attempts")):
        for row in database.run_statement(f"SELECT task FROM {queue} WHERE status = 'done'"):
            counts[row["task"], "done"] += 1
        for row in database.run_statement(
            f"SELECT task, outcome FROM {history} JOIN {queue} ON id = job_id"
        ):
            counts[row["task"], row["outcome"]] += 1
    return counts


def counted_by_rollups(database: Database) -> Counter[tuple[str, str]]:
    """Count the same from the figures."""
    counts: Counter[tuple[str, str]] = Counter()
    for task, whole in figures.ever(database).items():
        for outcome, tally in whole.outcomes.items():
            counts[task, outcome.value] += tally.attempts
    return counts
