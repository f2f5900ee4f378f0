"""`launcher.py status`: the queue, the runs and the time to go, for people and for programs."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from functools import partial

import pytest

from tests.lifecycle.conftest import run_command, url_of
from worker.guards import breakers
from worker.intake.added_jobs import row
from worker.models import Ending, Outcome
from worker.queue import irreversible, runs
from worker.recovery.sweep import SERVER_GRACE_SECONDS
from worker.settings import RunSettings

HOST = socket.gethostname()


@pytest.fixture
def cli(settings, tmp_path):
    return partial(run_command, tmp_path, DATABASE_URL=url_of(settings))


@pytest.fixture
def new_run(database):
    """Record a run of three workers out of six, with the launcher's pid."""

    def new_run(pid):
        settings = RunSettings(database=database.settings, workers=3, total=6, offset=3)
        return runs.start_run(database, settings, pid)

    return new_run


def test_the_status_counts_the_jobs_and_names_what_is_at_work(cli, one_of_each):
    *_, busy, _ = one_of_each

    done = cli("status")

    assert (done.returncode, done.stderr) == (0, "")
    first, second, third, *rest = done.stdout.splitlines()
    assert first == "5 jobs: 2 pending, 1 in_progress, 1 done, 1 error"
    assert second.startswith("waiting for their time: 1 pending job, next in 1 m ")
    assert third.startswith(f"  worker 3: job {busy} (visit), attempt 1, for ")
    assert rest == []


def test_the_status_as_json_holds_the_same(cli, one_of_each):
    told = json.loads(cli("status", "--json").stdout)

    assert told["jobs"] == {"pending": 2, "in_progress": 1, "done": 1, "error": 1}
    assert told["waiting"]["jobs"] == 1
    assert told["waiting"]["next_due_seconds"] == pytest.approx(100, abs=30)
    assert [row["id"] for row in told["in_progress"]] == [one_of_each[3]]
    assert told["latest_run"] is None


def test_follow_ups_and_the_job_that_added_one_are_shown(cli, queue, database, claim_as):
    parent = queue.enqueue("page", {})
    follow_ups = (row("price", {"n": 1}), row("price", {"n": 2}))
    queue.end(claim_as(), Ending(Outcome.DONE, result="null", follow_ups=follow_ups))
    child = claim_as().job_id

    told = cli("status").stdout.splitlines()
    as_json = json.loads(cli("status", "--json").stdout)

    assert "follow-ups: 2 jobs of the queue were added by jobs" in told
    (line,) = [each for each in told if f"job {child} (price)" in each]
    assert line.endswith(f", added by job {parent} (depth 1)")
    assert as_json["follow_ups"] == 2
    assert as_json["in_progress"][0]["parent_id"] == parent


def test_a_claim_past_its_lease_is_pointed_out_with_the_remedy(
    cli, database, queue, claim_as, expire
):
    queue.enqueue("visit", {})
    queue.enqueue("order", {})
    expire(claim_as())
    half_done = claim_as()
    irreversible.begin(database, half_done, "paying")
    expire(half_done)
    # On a younger server no lease counts as over: it may have been away itself.
    deadline = time.monotonic() + 2 * SERVER_GRACE_SECONDS
    while uptime_seconds(database) < SERVER_GRACE_SECONDS:
        assert time.monotonic() < deadline
        time.sleep(0.5)

    said = cli("status").stdout
    assert "put it back: launcher.py sweep" in said
    (line,) = [line for line in said.splitlines() if "(order)" in line]
    assert "GONE: may be half done at 'paying': " in line
    assert line.endswith("; end it as an error: launcher.py sweep")


def test_a_row_in_progress_that_nobody_began_hides_no_other(cli, database):
    database.run_statement(
        "INSERT INTO work_queue (payload, status, lease_until) "
        "VALUES ('{}', 'in_progress', '2100-01-01')"
    )

    assert "1 in_progress" in cli("status").stdout
    assert "is running" in cli("why", 1).stdout


def test_an_empty_queue_has_a_status_too(cli):
    done = cli("status")

    assert done.returncode == 0
    assert done.stdout == "0 jobs: 0 pending, 0 in_progress, 0 done, 0 error\n"


def done_lately(database, worker, count):
    """Put in jobs that a worker has done within the last hour, one a second."""
    database.run_statement(
        "INSERT INTO work_queue (payload, status, incarnation, started_at, finished_at) VALUES "
        + ", ".join(
            f"('{{}}', 'done', {worker}, UTC_TIMESTAMP(6) - INTERVAL {n + 1} SECOND, "
            f"UTC_TIMESTAMP(6) - INTERVAL {n} SECOND)"
            for n in range(count)
        )
    )


def test_every_live_run_is_shown_with_its_host_its_slots_and_its_rate(cli, database, new_run):
    first, second = new_run(os.getpid()), new_run(os.getpid())
    worker = runs.start_worker(database, first, 3)
    database.run_statement(
        "UPDATE runs SET host = 'night-2', boot_id = 'another', machine_id = 'another' "
        f"WHERE id = {second}"
    )
    database.run_statement("UPDATE runs SET started_at = UTC_TIMESTAMP(6) - INTERVAL 1 HOUR")
    done_lately(database, worker, 900)

    lines = cli("status").stdout.splitlines()

    (one,) = [line for line in lines if line.startswith(f"run {first} on {HOST}: ")]
    assert "workers 3–5 of 6, since " in one
    assert one.endswith("1.0 jobs/s")
    (other,) = [line for line in lines if line.startswith(f"run {second} on night-2: ")]
    assert other.endswith("0.0 jobs/s")


def test_the_time_to_go_leaves_out_what_is_held_back_and_says_so(cli, database, queue, new_run):
    run = new_run(os.getpid())
    worker = runs.start_worker(database, run, 3)
    database.run_statement("UPDATE runs SET started_at = UTC_TIMESTAMP(6) - INTERVAL 1 HOUR")
    done_lately(database, worker, 900)
    queue.enqueue_many("visit", [{"url": "https://held.test/"}] * 50)
    queue.enqueue_many("visit", [{"url": "https://example.com/"}] * 120)
    queue.enqueue("visit", {}, delay_seconds=1000)
    breakers.open_by_hand(database, "site:held.test", None, "their sale", "me")

    said = cli("status").stdout

    reason = "the breaker of site:held.test is held open: their sale"
    assert f"held back: 50 jobs: {reason}\n" in said
    (line,) = [line for line in said.splitlines() if line.startswith("about ")]
    assert line.endswith(": 120 jobs, without 50 held back and 1 that wait for their time")
    told = json.loads(cli("status", "--json").stdout)
    assert told["eta_seconds"] == pytest.approx(120, rel=0.3)
    assert [(item["jobs"], item["reason"]) for item in told["held_back"]] == [(50, reason)]
    assert [(run["run"], run["life"]) for run in told["runs"]] == [(run, "alive")]


def test_where_nothing_has_ended_in_a_run_it_says_so_of_that_run(cli, database, queue, new_run):
    earlier, now = new_run(os.getpid()), new_run(os.getpid())
    done_lately(database, runs.start_worker(database, earlier, 3), 10)
    database.run_statement(f"UPDATE runs SET ended_at = UTC_TIMESTAMP(6) WHERE id = {earlier}")
    queue.enqueue("visit", {})
    assert now

    (line,) = [line for line in cli("status").stdout.splitlines() if "time to go" in line]
    assert line == (
        "time to go: unknown, nothing has ended in this run in the last 15 minutes; 1 job"
    )


def test_a_killed_launcher_is_dead_at_once_and_nobody_waits_for_its_heartbeats(
    cli, database, queue, new_run
):
    job = queue.enqueue("visit", {})
    with subprocess.Popen(["sleep", "60"]) as process:
        run = new_run(process.pid)
        assert f"run {run} on {HOST}: workers" in cli("status").stdout
        assert "0 ready jobs come before it" in cli("why", job).stdout
        process.kill()

    said = cli("status").stdout
    assert f"nothing is running; latest run: {run} on {HOST}, killed, last heartbeat " in said
    assert "to go" not in said
    assert (
        f"nothing is running: the launcher of run {run} on {HOST} was killed; start a run"
        in cli("why", job).stdout
    )


def test_a_dead_run_is_named_as_long_as_a_sweep_has_something_to_put_right(
    cli, database, queue, new_run, claim_as
):
    job = queue.enqueue("visit", {})
    with subprocess.Popen(["sleep", "60"]) as process:
        run = new_run(process.pid)
        worker = runs.start_worker(database, run, 0)
        database.run_statement(f"UPDATE workers SET pid = {process.pid}")
        assert claim_as(incarnation=worker).job_id == job
        process.kill()

    said = cli("status").stdout
    assert f"run {run} on {HOST}: DEAD: its launcher (pid {process.pid}) was killed" in said
    assert "put 1 job back to pending" in cli("sweep").stdout

    said = cli("status").stdout
    assert "DEAD" not in said
    assert f"nothing is running; latest run: {run} on {HOST}, killed, last heartbeat " in said


def test_a_run_of_another_machine_that_beats_no_more_is_silent(cli, database, queue, new_run):
    job = queue.enqueue("visit", {})
    run = new_run(os.getpid())
    database.run_statement(
        "UPDATE runs SET host = 'night-2', boot_id = 'another', machine_id = 'another', "
        "heartbeat_at = UTC_TIMESTAMP(6) - INTERVAL 50 SECOND"
    )

    assert f"run {run} on night-2: SILENT for 5" in cli("status").stdout
    assert f"run {run} on night-2 has been silent for 5" in cli("why", job).stdout


def test_a_live_run_counts_though_a_later_one_has_ended(cli, database, queue, new_run):
    job = queue.enqueue("visit", {})
    alive, ended = new_run(os.getpid()), new_run(os.getpid())
    runs.end_run(database, ended, {})

    assert "0 ready jobs come before it" in cli("why", job).stdout
    assert f"run {alive} on {HOST}: workers" in cli("status").stdout


def uptime_seconds(database) -> float:
    (row,) = database.run_statement("SHOW GLOBAL STATUS LIKE 'Uptime'")
    return float(row["Value"])
