"""`launcher.py runs`: every run with its times, how it ended and what it came to."""

from __future__ import annotations

import json
import os
import subprocess
from functools import partial

import pytest

from tests.lifecycle.conftest import run_command, url_of
from worker.queue import runs
from worker.settings import RunSettings


@pytest.fixture
def cli(settings, tmp_path):
    return partial(run_command, tmp_path, DATABASE_URL=url_of(settings))


@pytest.fixture
def new_run(database):
    def new_run(pid=None):
        settings = RunSettings(database=database.settings, workers=1, total=1)
        return runs.start_run(database, settings, pid or os.getpid())

    return new_run


def test_the_newest_run_comes_first_with_its_host_how_it_ended_and_what_it_came_to(
    cli, database, new_run, monkeypatch
):
    monkeypatch.setenv("NIGHTSHIFT_HOST", "owl-7")
    first = new_run()
    summary = {"done": 1200, "failed": 3, "retried": 7, "crashes": 1}
    runs.end_run(database, first, {**summary, "stopped_by": "SIGTERM", "exit_code": 0})
    monkeypatch.setenv("NIGHTSHIFT_HOST", "owl-8")
    second = new_run()
    runs.end_run(database, second, {**summary, "crashes": 0})
    monkeypatch.setenv("NIGHTSHIFT_HOST", "owl-9")
    third = new_run()

    lines = cli("runs").stdout.splitlines()

    assert [line.split(",")[0] for line in lines] == [
        f"run {third} on owl-9",
        f"run {second} on owl-8",
        f"run {first} on owl-7",
    ]
    assert lines[0].endswith(", alive: 0 done, 0 failed, 0 tried again")
    assert lines[1].endswith(", drained: 1,200 done, 3 failed, 7 tried again")
    assert lines[2].endswith(
        ", stopped (SIGTERM): 1,200 done, 3 failed, 7 tried again, 1 worker death"
    )


def test_a_killed_run_is_told_with_what_was_counted_of_it(cli, database, new_run):
    with subprocess.Popen(["sleep", "60"]) as process:
        run = new_run(process.pid)
        process.kill()
    worker = runs.start_worker(database, run, 0)
    database.run_statement(
        "INSERT INTO work_queue (payload, status, incarnation, started_at, finished_at) "
        f"VALUES ('{{}}', 'done', {worker}, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))"
    )
    database.run_statement("UPDATE runs SET heartbeat_at = UTC_TIMESTAMP(6)")

    (line,) = cli("runs").stdout.splitlines()

    assert ", killed: 1 done, 0 failed" in line


def test_runs_come_in_pages(cli, database, new_run):
    numbers = [new_run() for _ in range(5)]

    page = cli("runs", "--limit", 2)
    assert page.stderr == f"more: launcher.py runs --before {numbers[3]}\n"
    after = json.loads(cli("runs", "--limit", 2, "--before", numbers[3], "--json").stdout)

    assert [run["run"] for run in after] == [numbers[2], numbers[1]]


def test_before_the_first_run_it_says_how_to_start_one(cli):
    assert cli("runs").stdout == "no run yet; start one: python launcher.py\n"


@pytest.mark.parametrize("arguments", [("--limit", "0"), ("--limit", "x"), ("--before", "x")])
def test_a_wrong_number_is_wrong_usage(cli, arguments):
    done = cli("runs", *arguments)

    assert (done.returncode, done.stdout) == (2, "")
