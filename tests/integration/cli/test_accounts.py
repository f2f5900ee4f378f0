"""Rules of accounts, orders and paces, as a person gives them on the command line."""

from __future__ import annotations

import json

import pytest

from tests.integration.profile_cli import refused, said
from worker.profiles import store


@pytest.fixture
def account(database):
    store.add_account(database, "a1", by="me")


def test_rules_are_set_and_listed(cli, account):
    answer = cli(
        *("accounts", "set", "a1", "--ordered", "--window", "09:00-18:00"),
        *("--timezone", "Europe/Berlin", "--except", "2026-12-25"),
    )
    rules = (
        "one job after the other (if one fails, the others wait for you), "
        "from 09:00-18:00, except 2026-12-25, "
        "in Europe/Berlin"
    )

    assert said(answer) == f"account a1: {rules}"
    header, line = said(cli("accounts")).splitlines()
    assert header.split("  ")[0] == "ID"
    assert line.endswith(rules)
    (row,) = json.loads(said(cli("accounts", "--json")))
    assert (row["is_ordered"], row["windows"], row["closed_days"]) == (
        *(True, ["09:00-18:00"]),
        ["2026-12-25"],
    )
    figures = ("done_today", "failed_week", "blocked_week", "last_success", "profile_states")
    assert [row[name] for name in figures] == [0, 0, 0, None, {}]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["accounts", "set", "a1", "--window", "09:00-09:00"], "never opens"),
        (
            ["accounts", "set", "a1", "--window", "09:00-18:00", "--timezone", "Europe/Berln"],
            "unknown time zone 'Europe/Berln'; did you mean Europe/Berlin?",
        ),
        (["limits", "set", "account:a1", "--warm-up", "40..5/14d"], "does not grow"),
        (["limits", "set", "account:a1", "--warm-up", "5..40/0d"], "ends before it starts"),
        (["limits", "set", "account:a1", "--per-hour", "0"], "--per-hour"),
        (["enqueue", "https://a.example/", "--order-on-failure", "skip"], "give --order-key too"),
        (["enqueue", "https://a.example/", "--order-key", "{}"], "name the column"),
    ],
)
def test_what_cannot_be_meant_is_one_line_and_changes_nothing(
    database, cli, account, arguments, why
):
    (line,) = refused(cli(*arguments)).splitlines()[-1:]

    assert why in line
    assert list(database.run_statement("SELECT * FROM limits")) == []
    assert list(database.run_statement("SELECT 1 FROM work_queue")) == []


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["accounts", "set", "a1", "--window", "09:00-09:00"], "never opens"),
        (["accounts", "set", "a1", "--window", "mon 24:00-24:00"], "there is no such time"),
        (["accounts", "set", "a1", "--except", "2026-12-25", "--timezone", "Mars/X"], "unknown"),
        (["limits", "set", "account:a1", "--warm-up", "5..40/0d"], "ends before it starts"),
        (["limits", "set", "account:a1", "--warm-up", "5..40/-3d"], "warm-up"),
        (["profiles", "add", "p1", "--account", "a2", "--timezone", "Berlin"], "unknown time zone"),
    ],
)
def test_a_rule_that_cannot_be_is_exactly_one_line(database, cli, account, arguments, why):
    before = list(database.run_statement("SELECT * FROM accounts"))

    (line,) = refused(cli(*arguments)).splitlines()

    assert why in line
    assert list(database.run_statement("SELECT * FROM accounts")) == before
    for table in ("limits", "profiles"):
        assert list(database.run_statement(f"SELECT 1 FROM {table}")) == []


def test_a_pace_is_set_and_shown(cli):
    answer = cli(
        *("limits", "set", "account:a1", "--per-hour", "10", "--per-day", "40"),
        *("--warm-up", "5..40/14d"),
    )
    caps = "10 per hour and 40 per day and 5..40 per day within 14 days"

    assert said(answer) == f"account:a1 is limited to {caps}"
    assert said(cli("limits")) == f"account:a1: {caps}"


def order_keys(database):
    rows = database.run_statement("SELECT order_key FROM work_queue ORDER BY id")
    return [row["order_key"] for row in rows]


def test_an_order_key_is_given_for_all_jobs_or_by_a_column(database, cli, tmp_path):
    cli("enqueue", "https://a.example/", "--order-key", "orders", "--order-on-failure", "stop")
    file = tmp_path / "jobs.csv"
    file.write_text("url,customer\nhttps://a.example/,c1\nhttps://b.example/,c2\n")
    said(cli("enqueue", file, "--order-key", "{customer}"))

    assert order_keys(database) == ["orders", "c1", "c2"]
    (row, *_) = database.run_statement("SELECT order_on_failure AS choice FROM work_queue")
    assert row["choice"] == "stop"


def test_lines_may_name_their_own_order_key(database, cli, tmp_path):
    file = tmp_path / "jobs.jsonl"
    lines = ({"url": "https://a.example/", "order_key": key} for key in ("k1", None, 7))
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    said(cli("enqueue", file))

    assert order_keys(database) == ["k1", None, "7"]
    payload = database.run_statement("SELECT payload FROM work_queue LIMIT 1")[0]["payload"]
    assert json.loads(payload) == {"url": "https://a.example/"}


def test_lines_may_name_their_own_profile_and_account(database, cli, tmp_path):
    file = tmp_path / "jobs.jsonl"
    owners = ({"profile_id": "p1"}, {"account_id": "a1"}, {"profile_id": None}, {})
    lines = ({"url": "https://a.example/", **owner} for owner in owners)
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    said(cli("enqueue", file))

    rows = database.run_statement("SELECT profile_id, account_id, payload FROM work_queue")
    found = [(row["profile_id"], row["account_id"]) for row in rows]
    assert found == [("p1", None), (None, "a1"), (None, None), (None, None)]
    assert {row["payload"] for row in rows} == {'{"url": "https://a.example/"}'}


@pytest.mark.parametrize("flag", [(), ("--order-key", "k")])
def test_an_order_key_in_a_temporary_profile_is_refused(database, cli, tmp_path, flag):
    file = tmp_path / "jobs.jsonl"
    line = {"url": "https://a.example/", "manifest": {"temporary": True}, "order_key": "k"}
    file.write_text(json.dumps(line))

    answer = refused(cli("enqueue", file, *flag))

    assert "line 1: a job in a temporary profile cannot have an order key" in answer
    assert order_keys(database) == []
