"""The read-only JSON API tells what the pages tell."""

from __future__ import annotations

import json

import pytest


def ask(site, path):
    answer = site.client().get(f"/api/v1/{path}")
    assert answer.mimetype == "application/json"
    return json.loads(answer.text)


@pytest.mark.parametrize("path", ["status", "errors", "jobs", "jobs/61", "runs", "events", "audit"])
def test_every_answer_has_a_version(site, path):
    assert ask(site, path)["version"] == 1


def test_status_counts_every_job_once(site):
    told = ask(site, "status")

    counted = sum(told["jobs"][name] for name in ("done", "error", "in_progress", "pending"))
    assert counted == site.db.run_statement("SELECT COUNT(*) AS n FROM work_queue")[0]["n"]
    assert told["verdict"]["title"]


def test_status_lists_what_waits_for_a_person_as_todo_does(site):
    told = ask(site, "status")["todo"]

    assert told[0]["kind"] == "half done"
    assert {item["kind"] for item in told} >= {"profile"}
    assert set(told[0]) == {"kind", "name", "reason", "since", "jobs", "command"}


def test_a_job_has_its_attempts_and_no_secrets(site):
    told = ask(site, "jobs/61")

    assert told["job"]["payload"]["url"] == "https://shop.example.com/p/61"
    assert told["job"]["payload"]["password"] != "hunter2-secret"
    assert [attempt["outcome"] for attempt in told["attempts"]] == ["timed_out"]


def test_a_job_that_is_not_there_is_said_so_in_json(site):
    answer = site.client().get("/api/v1/jobs/999999")

    assert answer.status_code == 404
    assert "no job 999,999" in json.loads(answer.text)["error"]


def test_a_list_goes_on_where_it_ended(site):
    first = ask(site, "jobs?state=all")
    second = ask(site, f"jobs?state=all&after={first['next']}")

    assert len(first["jobs"]) == 50
    assert not {job["id"] for job in first["jobs"]} & {job["id"] for job in second["jobs"]}


def test_metrics_are_those_of_the_command(site):
    answer = site.client().get("/metrics")

    assert answer.mimetype == "text/plain"
    assert "nightshift_up 1" in answer.text


def test_metrics_want_a_token_where_there_are_users(guarded_site):
    client = guarded_site.app.test_client()
    good = {"Authorization": f"Bearer {guarded_site.people.add_token('prometheus')}"}

    assert client.get("/metrics").status_code == 401
    assert "nightshift_up 1" in client.get("/metrics", headers=good).text
