"""`launcher.py status` and `show ID`: for people, and as JSON for programs."""

from __future__ import annotations

import json
import time
from functools import partial

import pytest

from tests.conftest import because
from tests.lifecycle.conftest import run_command, url_of
from worker.recovery.sweep import SERVER_GRACE_SECONDS


@pytest.fixture
def cli(settings, tmp_path):
    return partial(run_command, tmp_path, DATABASE_URL=url_of(settings))


@pytest.fixture
def one_of_each(queue, claim_as):
    """A job of each kind: done, failed, waiting to be tried again, in progress, pending."""
    done = queue.enqueue("visit", {"url": "https://example.com/done"})
    queue.complete(claim_as(), {"title": "Näher ☂"})
    failed = queue.enqueue("visit", {"url": "https://example.com/failed"})
    why = because("HTTP 404", last_error="Traceback\n  Fail: \x1b[31mHTTP 404", evidence="2/1")
    queue.fail(claim_as(), why)
    waiting = queue.enqueue("visit", {"url": "https://example.com/waiting"})
    queue.retry(claim_as(), because("HTTP 503"), delay_seconds=100)
    busy = queue.enqueue("visit", {"url": "https://example.com/busy"})
    claim_as(slot=3, total=4)
    pending = queue.enqueue("visit", {"url": "https://example.com/pending"})
    return done, failed, waiting, busy, pending


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


def test_a_claim_past_its_lease_is_pointed_out_with_the_remedy(
    cli, database, queue, claim_as, expire
):
    queue.enqueue("visit", {})
    expire(claim_as())
    # On a younger server no lease counts as over: it may have been away itself.
    deadline = time.monotonic() + 2 * SERVER_GRACE_SECONDS
    while uptime_seconds(database) < SERVER_GRACE_SECONDS:
        assert time.monotonic() < deadline
        time.sleep(0.5)

    assert "put it back: make sweep" in cli("status").stdout


def test_an_empty_queue_has_a_status_too(cli):
    done = cli("status")

    assert done.returncode == 0
    assert done.stdout == "0 jobs: 0 pending, 0 in_progress, 0 done, 0 error\n"


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


def uptime_seconds(database) -> float:
    (row,) = database.run_statement("SHOW GLOBAL STATUS LIKE 'Uptime'")
    return float(row["Value"])
