"""Metrics tell what the database holds, count up only, and stay small however much there is."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from datetime import timedelta
from itertools import pairwise

import pytest

from bench import sample_night
from tests.integration.claiming.rows import rows_read
from tests.integration.reporting.conftest import work_off
from worker.database.client import Database
from worker.database.statements import query
from worker.history import archive
from worker.history.archive import Label
from worker.queue import pause, runs
from worker.reporting import figures, lifetime, metrics, thinning
from worker.reporting.spans import DAY

FIRST = "nightshift_oldest_ready_timestamp_seconds"
ATTEMPTS = "nightshift_attempts_total"
# MySQL draws a tree unless it is told not to.
EXPLAIN = "EXPLAIN /*!80000 FORMAT=TRADITIONAL */"
PROMISED = {
    *("up", "build_info", "scrape_seconds", "jobs", "jobs_finished_total", "attempts_total"),
    *("job_duration_seconds_bucket", "job_duration_seconds_sum", "job_duration_seconds_count"),
    *("oldest_ready_timestamp_seconds", "oldest_running_timestamp_seconds", "slots", "runs"),
    *("worker_restarts_total", "leases_reclaimed_total", "recent_failures", "paused"),
    *("webhooks_due", "webhooks_given_up", "run_last_end_timestamp_seconds"),
    "run_last_success_timestamp_seconds",
}


def read(connect):
    """Scrape once; return the samples by name with labels."""
    text, is_up = metrics.scrape(connect)
    assert is_up
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    samples = [re.fullmatch(r"(\w+(?:\{.*\})?) (\S+)", line) for line in lines]
    found = {match[1]: float(match[2]) for match in samples}
    assert len(found) == len(lines)
    return found


def counters(samples):
    counting = ("_total", "_bucket", "_count", "_sum")
    return {name: n for name, n in samples.items() if name.split("{")[0].endswith(counting)}


def test_jobs_are_told_by_queue_the_largest_first(connect, queue, monkeypatch):
    monkeypatch.setattr(metrics, "MOST_QUEUES", 2)
    for number, name in enumerate(("few", "slow", "many")):
        for _ in range(number + 1):
            queue.enqueue("visit", {}, queue=name)

    told = {name: n for name, n in read(connect).items() if 'jobs{status="pending"' in name}

    assert told == {
        'nightshift_jobs{status="pending",queue="default"}': 0,
        'nightshift_jobs{status="pending",queue="many"}': 3,
        'nightshift_jobs{status="pending",queue="slow"}': 2,
        'nightshift_jobs{status="pending",queue="other"}': 1,
    }


def test_of_many_jobs_a_few_tell_the_queues_and_their_number_stays(connect, queue, monkeypatch):
    monkeypatch.setattr(metrics, "QUEUES_OF_JOBS", 2)
    for name in ("slow", *["fast"] * 6):
        queue.enqueue("visit", {}, queue=name)

    told = {name: n for name, n in read(connect).items() if 'jobs{status="pending"' in name}

    assert told == {
        'nightshift_jobs{status="pending",queue="default"}': 0,
        'nightshift_jobs{status="pending",queue="fast"}': 6,
        'nightshift_jobs{status="pending",queue="slow"}': 1,
    }


def test_a_queue_is_told_by_status_with_its_oldest_jobs(connect, database, queue, claim_as, now):
    for number in range(3):
        queue.enqueue("visit", {"url": "about:blank"}, priority=number)
    database.run_statement(
        "UPDATE work_queue SET created_at = %(at)s WHERE priority = 2",
        {"at": now - timedelta(hours=1)},
    )
    claim_as()

    samples = read(connect)

    assert samples['nightshift_jobs{status="pending",queue="default"}'] == 2
    assert samples['nightshift_jobs{status="in_progress",queue="default"}'] == 1
    assert samples['nightshift_jobs{status="done",queue="default"}'] == 0
    started = samples["nightshift_oldest_running_timestamp_seconds"]
    assert 0 <= started - samples[FIRST] - 3600 < 60


def test_an_empty_database_has_metrics_without_what_is_not_known(connect, database):
    samples = read(connect)

    assert samples["nightshift_up"] == samples['nightshift_build_info{version="0.1.0"}'] == 1
    assert FIRST not in samples
    assert "nightshift_run_last_success_timestamp_seconds" not in samples


def test_what_ended_is_counted_by_task_and_outcome_with_its_durations(
    connect, ended, attempted, now
):
    for minutes in (0, 3, 600):
        ended(now - timedelta(minutes=minutes), task="price", seconds=1.5)
    job = ended(now, task="visit", seconds=100)
    attempted(job, now - timedelta(minutes=5), "blocked", fence=5, failed=False)
    attempted(job, now - timedelta(minutes=6), "swept", fence=6, failed=True)

    samples = read(connect)

    assert samples[f'{ATTEMPTS}{{task="price",outcome="done"}}'] == 3
    assert samples[f'{ATTEMPTS}{{task="visit",outcome="blocked"}}'] == 1
    assert samples['nightshift_jobs_finished_total{task="visit",outcome="error"}'] == 1
    assert samples["nightshift_leases_reclaimed_total"] == 1
    buckets = 'nightshift_job_duration_seconds_bucket{task="price",le="%s"}'
    assert [samples[buckets % le] for le in ("1", "2", "+Inf")] == [0, 3, 3]
    assert samples['nightshift_job_duration_seconds_sum{task="price"}'] == pytest.approx(4.5)


def test_counters_never_go_down_over_rollups_archive_and_thinning(
    connect, database, ended, attempted, keeper, now
):
    for days in (0, 1, 9, 30, 500):
        at = now - timedelta(days=days)
        job = ended(at, task=f"task {days % 2}", seconds=days + 0.3)
        attempted(job, at - timedelta(minutes=5), "retry", fence=9, failed=False)
    seen = [counters(read(connect))]

    work_off(keeper)
    seen.append(counters(read(connect)))
    old = archive.finished_before(database, 5 * 86400, ["done"])
    assert sum(moved.jobs for moved in archive.run(database, old, Label("a test", "old"))) == 3
    seen.append(counters(read(connect)))
    state = figures.state(database)
    while thinning.remove_old(database, now, state.hours_until, state.days_until):
        seen.append(counters(read(connect)))
    seen.append(counters(read(connect)))

    assert sum(n for name, n in seen[0].items() if name.startswith(ATTEMPTS)) == 10
    for before, after in pairwise(seen):
        assert after == pytest.approx(before)


def test_surplus_tasks_are_told_as_one(connect, ended, now, monkeypatch):
    monkeypatch.setattr(lifetime, "MAX_TASKS", 2)
    for number in range(5):
        ended(now - DAY.length * (9 - number), task=f"task {9 - number}")

    samples = read(connect)

    done = {n: v for n, v in samples.items() if n.startswith(ATTEMPTS)}
    assert done == {
        f'{ATTEMPTS}{{task="task 9",outcome="done"}}': 1,
        f'{ATTEMPTS}{{task="task 8",outcome="done"}}': 1,
        f'{ATTEMPTS}{{task="other",outcome="done"}}': 3,
    }


def test_runs_are_told_with_slots_restarts_and_the_last_good_one(connect, database, new_run):
    good, bad = new_run(), new_run()
    runs.end_run(database, good, {"exit_code": 0})
    runs.end_run(database, bad, {"exit_code": 10})
    database.run_statement(
        f"UPDATE runs SET ended_at = '2026-11-18 05:00:00' + INTERVAL id = {bad} HOUR"
    )
    live = new_run(pid=os.getpid())
    for slot in (0, 1, 1, 1):
        runs.start_worker(database, live, slot)
    runs.beat(database, live, '{"workers": [{"phase": "working"}, {"phase": "none"}]}')
    pause.pause(database, "tests", by="me")

    samples = read(connect)

    success = samples["nightshift_run_last_success_timestamp_seconds"]
    assert samples["nightshift_run_last_end_timestamp_seconds"] - success == 3600
    assert samples['nightshift_runs{life="alive"}'] == 1
    assert samples['nightshift_slots{state="working"}'] == 1
    assert samples["nightshift_paused"] == 1
    (restarts,) = [n for name, n in samples.items() if name.startswith("nightshift_worker_re")]
    assert restarts == 2


def test_failures_of_the_last_hour_are_told_by_cause_and_provider(
    connect, database, ended, attempted, now
):
    job = ended(now)
    attempted(job, now, "retry", fence=8, failed=False)
    attempted(job, now - timedelta(hours=2), "retry", fence=9, failed=False)
    database.run_statement("UPDATE job_attempts SET cause = 'profile'")

    found = {n: v for n, v in read(connect).items() if "recent_failures" in n}

    labels = '{outcome="retry",cause="profile",provider="none"}'
    assert found == {f"nightshift_recent_failures{labels}": 1}


def test_every_metric_that_is_promised_is_there_and_no_label_can_grow(
    connect, database, tmp_path, ended, new_run, now
):
    sample_night.fill(database, tmp_path)
    ended(now)
    runs.end_run(database, new_run(), {"exit_code": 0})

    samples = read(connect)

    told = {name.split("{")[0].removeprefix("nightshift_") for name in samples}
    assert told >= PROMISED
    labels = set(re.findall(r'[{,](\w+)="', " ".join(samples)))
    # A site, a URL, a job, a profile or an account would be a series for each of them.
    assert labels <= {
        *("status", "queue", "task", "outcome", "le", "state", "life"),
        *("cause", "provider", "host", "first_slot", "version"),
    }


def test_a_scrape_reads_little_more_than_it_tells(connect, database, keeper, now):
    at = now - timedelta(minutes=30)
    database.run_statement(
        "INSERT INTO work_queue (payload, status, created_at, started_at, finished_at) VALUES "
        + ", ".join(["('{}', 'done', %(at)s, %(at)s, %(at)s)"] * 3000),
        {"at": at},
    )
    work_off(keeper)
    asked = []

    class Noting(Database):
        def fetch_all(self, name, /, *args, **params):
            asked.append((name, params))
            return super().fetch_all(name, *args, **params)

    db = Noting(database.settings)
    list(metrics.collect(db))
    before = rows_read(db)
    list(metrics.collect(db))

    # All jobs are counted once, from the index and through a temporary table.
    assert rows_read(db) - before < 3 * 3000
    db.close()
    for name, params in asked:
        for row in database.run_statement(f"{EXPLAIN} {query(name)}", params):
            is_own = str(row["table"]).startswith("<") or row["table"] in (None, "c", "e", "h")
            # The newest runs are read backwards by their numbers, up to a limit.
            is_own = is_own or (name, row["key"]) == ("newest_runs", "PRIMARY")
            # MySQL reads an empty table in the order of its index.
            is_own = is_own or int(row["rows"] or 0) <= 1
            assert is_own or row["type"] not in ("ALL", "index"), (name, row)


@pytest.mark.skipif(shutil.which("promtool") is None, reason="deploy/setup-tests.sh gets promtool")
def test_promtool_finds_nothing_to_complain_of(connect, ended, new_run, now):
    ended(now, task='a "strange"\\ name')
    new_run()
    text, _ = metrics.scrape(connect)

    checked = subprocess.run(
        ["promtool", "check", "metrics"], check=False, input=text, text=True, capture_output=True
    )

    assert (checked.returncode, checked.stdout + checked.stderr) == (0, "")
