"""`launcher.py show ID` and `why ID`: for people, and as JSON for programs."""

from __future__ import annotations

import json
import os
from functools import partial

import pytest

from tests.conftest import because
from tests.lifecycle.conftest import run_command, url_of
from worker.queue import runs
from worker.settings import RunSettings


@pytest.fixture
def cli(settings, tmp_path):
    return partial(run_command, tmp_path, DATABASE_URL=url_of(settings))


def test_a_done_job_is_shown_with_its_result(cli, one_of_each):
    done = cli("show", one_of_each[0])

    assert (done.returncode, done.stderr) == (0, "")
    assert "(visit): done after 1 attempt (limit " in done.stdout
    assert "https://example.com/done" in done.stdout
    assert "result" in done.stdout
    assert "finished" in done.stdout


def test_a_failed_job_is_shown_with_its_reason_its_evidence_and_its_traceback(
    cli, one_of_each, tmp_path
):
    shown = cli("show", one_of_each[1]).stdout

    assert "): error after 1 attempt" in shown
    assert "    HTTP 404\n" in shown
    assert f"evidence: {tmp_path}/errors/2/1" in shown
    assert "last error:\n  Traceback\n" in shown
    assert "\x1b" not in shown


def test_a_waiting_job_is_shown_with_its_time_and_its_reason(cli, one_of_each):
    shown = cli("show", one_of_each[2]).stdout

    (line,) = [line for line in shown.splitlines() if line.startswith("  waits")]
    assert "until " in line
    assert line.endswith("Z HTTP 503")


def test_a_job_as_json_holds_its_row_and_its_history(cli, one_of_each):
    told = json.loads(cli("show", one_of_each[0], "--json").stdout)

    assert told["job"]["status"] == "done"
    assert told["job"]["payload"] == {"url": "https://example.com/done"}
    assert told["job"]["result"] == {"title": "Näher ☂"}
    assert told["job"]["finished_at"].endswith("Z")
    assert [attempt["outcome"] for attempt in told["attempts"]] == ["done"]


def test_a_job_that_is_not_there_is_named(cli, database):
    done = cli("show", 4729)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("nightshift: there is no job 4729 in ")


@pytest.mark.parametrize("job_id", ["abc", "1.5", ""])
def test_a_number_that_is_none_is_wrong_usage(cli, job_id):
    done = cli("show", job_id)

    assert (done.returncode, done.stdout) == (2, "")
    assert "is not a valid integer" in done.stderr


def test_why_of_an_archived_job_tells_its_end_and_promises_no_retry(cli, one_of_each, put_away):
    done, failed, *_ = one_of_each
    put_away(done, failed)

    assert cli("why", done).stdout.startswith(f"job {done} was done at ")
    told = cli("why", failed).stdout
    assert told.startswith(f"job {failed} failed for good at ")
    assert ": HTTP 404; it was archived at " in told
    assert "retry --id" not in told
    assert cli("retry", "--id", failed, "--yes").returncode == 2
    assert told.endswith(f"; to bring it back: launcher.py undiscard --id {failed}\n")
    assert cli("undiscard", "--id", failed, "--yes").returncode == 0


def test_why_of_a_cancelled_job_says_by_whom_and_how_it_comes_back(cli, queue, claim_as):
    at_work = queue.enqueue("visit", {}, priority=-1)
    claim_as()
    waiting = queue.enqueue("visit", {})
    flags = ("--id", at_work, "--id", waiting, "--running", "--yes", "--reason", "wrong list")
    assert cli("cancel", *flags).returncode == 0

    for job, state in ((waiting, "before it was done"), (at_work, "while it was at work")):
        told = cli("why", job).stdout
        assert told.startswith(f"job {job} was archived at 2")
        assert f": wrong list) {state}; to bring it back: launcher.py undiscard --id {job}" in told
        assert "failed" not in told


@pytest.mark.parametrize("flags", [(), ("--json",)], ids=["", "json"])
def test_a_job_is_shown_without_the_secrets_of_its_payload(cli, database, queue, claim_as, flags):
    payload = {
        "user": "me",
        "password": "a white horse",
        "url": "http://me:hunter2@h.test/?sid=abcdef",
    }
    job = queue.enqueue("visit", payload)
    queue.retry(claim_as(), because("saw a white horse"), delay_seconds=100)
    # What was written before secrets were masked is masked when it is shown.
    database.run_statement(
        "UPDATE work_queue SET last_error = 'a%20white%20horse', wait_reason = 'a white horse', "
        'result = \'{"said": "a white horse", "code": 200}\''
    )
    database.run_statement("UPDATE job_attempts SET reason = 'a white horse, token=hunter2'")

    shown = cli("show", job, *flags).stdout

    assert not [secret for secret in ("horse", "hunter2", "abcdef") if secret in shown]
    assert shown.count("[redacted]") >= 6
    assert "me" in shown
    assert '"code": 200' in shown
    assert "horse" not in cli("why", job).stdout


def test_the_host_of_a_jobs_worker_is_named_everywhere(cli, queue, database, monkeypatch):
    monkeypatch.setenv("NIGHTSHIFT_HOST", "night-2")
    run = runs.start_run(database, RunSettings(database=database.settings, workers=1), os.getpid())
    worker = runs.start_worker(database, run, 0)
    done, doing = (queue.enqueue("visit", {}) for _ in range(2))
    for job, status in ((done, "done"), (doing, "in_progress")):
        database.run_statement(
            "UPDATE work_queue SET status = %(status)s, incarnation = %(worker)s, worker_id = 0, "
            "attempts = 1, fence = 1, started_at = UTC_TIMESTAMP(6), finished_at = "
            "IF(%(status)s = 'done', UTC_TIMESTAMP(6), NULL), lease_until = "
            "UTC_TIMESTAMP(6) + INTERVAL 60 SECOND WHERE id = %(id)s",
            {"status": status, "worker": worker, "id": job},
        )

    assert "is running: worker 0 on night-2, for" in cli("why", doing).stdout
    assert f"  worker 0 on night-2: job {doing} (visit)" in cli("status").stdout
    assert "by worker 0 on night-2" in cli("show", doing).stdout
    assert "attempt 1 by worker 0 on night-2, " in cli("show", done).stdout
