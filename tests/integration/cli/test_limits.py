"""`launcher.py limits`, `breakers` and `why`: said in one line each, and in JSON for programs."""

from __future__ import annotations

import json
from functools import partial

import pytest

from tests.conftest import because
from tests.lifecycle.conftest import run_command, url_of
from worker.queue import pause


@pytest.fixture
def cli(settings, database, tmp_path):
    return partial(run_command, tmp_path, DATABASE_URL=url_of(settings))


def said(answer) -> str:
    assert answer.returncode == 0, answer.stderr
    return answer.stdout.strip()


def test_a_limit_is_set_listed_and_cleared(cli):
    told = said(
        cli("limits", "set", "site:www.Example.com", "--concurrent", "2", "--per-minute", "30")
    )
    assert told == "site:example.com is limited to 2 at once and 30 per minute"
    assert said(cli("limits", "list")) == "site:example.com: 2 at once and 30 per minute"
    row = json.loads(said(cli("limits", "list", "--json")))[0]
    assert (row["name"], row["concurrent"], row["per_minute"]) == ("site:example.com", 2, 30.0)
    assert "no longer has a limit" in said(cli("limits", "clear", "site:example.com"))
    assert "had no limit" in said(cli("limits", "clear", "site:example.com"))
    assert said(cli("limits", "list")).startswith("no limits")


def test_a_queue_can_be_limited_and_the_help_says_so(cli, queue):
    assert "queue:NAME" in said(cli("limits", "set", "--help"))
    assert said(cli("limits", "set", "queue:slow", "--concurrent", "0")).startswith("queue:slow is")

    job = queue.enqueue("visit", {}, queue="slow")
    assert "queue:slow" in said(cli("why", job))


@pytest.mark.parametrize(
    "arguments",
    [
        ("limits", "set", "site:example.com"),
        ("limits", "set", "example.com", "--concurrent", "1"),
        ("limits", "set", "global", "--concurrent", "-1"),
        ("limits", "set", "global", "--per-minute", "0"),
        ("breakers", "open", "example.com"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_2(cli, arguments):
    answer = cli(*arguments)
    assert answer.returncode == 2
    assert answer.stderr.strip()
    assert "Traceback" not in answer.stderr


def test_status_leaves_out_what_is_closed_and_holds_nothing_back(cli, queue):
    said(cli("breakers", "open", "site:example.com", "--reason", "their sale"))

    assert "example.com" not in said(cli("status"))
    assert "site:example.com" in said(cli("breakers"))
    assert "site:example.com" in [item["key"] for item in cli_json(cli)["closed"]]

    queue.enqueue("visit", {"url": "https://example.com/"})
    assert "held back: 1 job: the breaker of site:example.com" in said(cli("status"))


def cli_json(cli):
    return json.loads(said(cli("status", "--json")))


def test_a_breaker_is_opened_shown_and_closed(cli):
    assert said(cli("breakers", "list")) == "no breaker is open"
    said(cli("breakers", "open", "site:example.com", "--for", "1h", "--reason", "their sale"))
    line = said(cli("breakers", "list"))
    assert line.startswith("site:example.com: open, next check in 59 m")
    assert "their sale" in line
    said(cli("breakers", "close", "site:example.com"))
    assert said(cli("breakers", "list")) == "no breaker is open"
    said(cli("breakers", "close", "site:example.com", "--keep"))
    assert "kept closed by" in said(cli("breakers", "list"))


def test_why_says_in_one_sentence_what_a_job_waits_for(cli, database, queue, claim_as):
    job = queue.enqueue("visit", {"url": "https://example.com/"})

    def why() -> str:
        sentence = said(cli("why", str(job)))
        assert "\n" not in sentence
        return sentence

    assert why() == f"job {job} is ready, but nothing is running; start a run: python launcher.py"
    pause.pause(database, "deploy", "me")
    assert "all runs are paused by me (deploy)" in why()
    pause.resume(database)
    said(cli("limits", "set", "site:example.com", "--concurrent", "0"))
    assert "site:example.com is limited to 0 at once (0 running)" in why()
    said(cli("limits", "clear", "site:example.com"))
    said(cli("breakers", "open", "site:example.com", "--reason", "their sale"))
    assert "the breaker of site:example.com is held open: their sale" in why()
    said(cli("breakers", "close", "site:example.com"))
    queue.retry(claim_as(), because("HTTP 503"), delay_seconds=600)
    assert why().endswith("s from now: HTTP 503")
    database.run_statement("UPDATE work_queue SET not_before = NULL")
    claim = claim_as()
    assert f"job {job} is running: worker 0" in why()
    queue.fail(claim, because("HTTP 404"))
    assert f"HTTP 404; to try again: launcher.py retry --id {job}" in why()


def test_why_counts_the_jobs_ahead_when_a_pool_is_at_work(cli, database, queue):
    for priority in (0, 5, 0):
        queue.enqueue("visit", {}, priority=priority)
    last = queue.enqueue("visit", {}, priority=0)
    database.run_statement(
        "INSERT INTO runs (host, machine_id, boot_id, pid_namespace, pid, pid_started, first_slot,"
        " workers, total, started_at, heartbeat_at)"
        " VALUES ('h', '', '', 0, 1, 1, 0, 1, 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))"
    )

    assert said(cli("why", str(last))) == f"job {last} is ready, and 2 ready jobs come before it"
    assert json.loads(said(cli("why", str(last), "--json")))["id"] == last


def test_why_of_an_unknown_job_is_a_clear_error(cli):
    answer = cli("why", "4711")
    assert answer.returncode == 2
    assert "there is no job 4711" in answer.stderr


def test_a_limit_of_an_account_that_nobody_knows_is_set_and_said_to_hold_nothing(cli):
    said(cli("accounts", "add", "type"))

    answer = cli("limits", "set", "account:typo", "--per-hour", "10")

    assert said(answer) == "account:typo is limited to 10 per hour"
    (warning,) = answer.stderr.splitlines()
    assert warning.startswith("warning: there is no account typo yet, so this holds nothing back")
    assert "did you mean account:type?" in warning
    said(cli("accounts", "add", "typo"))
    assert cli("limits", "set", "account:typo", "--per-hour", "10").stderr == ""
