"""`launcher.py rollups`: how far the figures are, and working them out anew."""

from __future__ import annotations

import json
from functools import partial

import pytest

from tests.lifecycle.conftest import run_command, url_of
from worker.reporting import figures
from worker.reporting.rollups import Rollups


@pytest.fixture
def cli(settings, tmp_path):
    return partial(run_command, tmp_path, DATABASE_URL=url_of(settings))


@pytest.fixture
def a_job_of_yesterday(database):
    database.run_statement(
        "INSERT INTO work_queue (payload, status, started_at, finished_at) VALUES ('{}', 'done', "
        "UTC_TIMESTAMP(6) - INTERVAL 1 DAY, UTC_TIMESTAMP(6) - INTERVAL 1 DAY)"
    )


def test_a_rebuild_counts_what_is_there_and_says_from_when_to_when(
    cli, database, a_job_of_yesterday
):
    assert cli("rollups").stdout.startswith("nothing is counted yet")

    done = cli("rollups", "rebuild", "--since", "3d")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("rebuilt the figures from 20")
    (whole,) = figures.ever(database).values()
    assert whole.done == 1
    assert cli("rollups").stdout.startswith("counted until ")
    assert json.loads(cli("rollups", "--json").stdout)["owner"] is None


def test_a_rebuild_mends_what_was_wrong(cli, database, a_job_of_yesterday):
    rollups = Rollups.of(database, "a test")
    while rollups.beat():
        pass
    rollups.release()
    database.run_statement("UPDATE task_rollups SET attempts = 1000")

    assert cli("rollups", "rebuild", "--since", "2d").returncode == 0

    (whole,) = figures.ever(database).values()
    assert whole.done == 1


def test_a_rebuild_needs_a_time(cli):
    done = cli("rollups", "rebuild")

    assert (done.returncode, done.stdout) == (2, "")
    assert "--since" in done.stderr
