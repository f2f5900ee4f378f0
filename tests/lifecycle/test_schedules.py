"""A run tells of batches that it has finished, and fires schedules that come due meanwhile."""

from __future__ import annotations

import signal
from functools import partial

import pytest

from tests.lifecycle.conftest import run_command, url_of, wait_until
from worker.scheduling import schedules
from worker.scheduling.schedules import NewSchedule


@pytest.fixture
def cli(settings, tmp_path):
    return partial(run_command, tmp_path, DATABASE_URL=url_of(settings))


def test_a_run_tells_of_a_batch_whose_last_job_it_has_done(launch, database, tasks, cli):
    flags = ("--task", "noop", "--tasks", tasks, "--batch", "monday")
    assert cli("enqueue", "https://e.org", *flags).returncode == 0

    run = launch("--workers", 2, "--tasks", tasks, "--callback-url", "https://hook.invalid/")

    assert run.wait() == 0, run.output
    (batch,) = database.run_statement("SELECT done, finished_at FROM batches")
    assert batch["done"] == 1
    assert batch["finished_at"] is not None
    events = database.run_statement("SELECT event FROM outbox WHERE event = 'batch.finished'")
    assert len(events) == 1


def test_runs_at_work_fire_a_schedule_once(launch, database, queue, tasks, noted):
    schedules.add(database, NewSchedule("soon", "* * * * *", "UTC", "noop", ("{}", "{}")), "me")
    database.run_statement("UPDATE schedules SET next_at = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND")
    database.run_statement("UPDATE schedules SET cron = '0 0 1 1 *'")
    runs = [
        launch("--workers", 1, "--tasks", tasks, "--follow", "--if-locked", "ignore")
        for _ in range(2)
    ]

    wait_until(lambda: len(noted("finished")) == 2, "its jobs are done")
    (row,) = database.run_statement("SELECT fired FROM schedules")
    assert row["fired"] == 1
    for run in runs:
        run.signal(signal.SIGTERM)
    assert [run.wait() for run in runs] == [0, 0]
    assert queue.counts()["done"] == 2
