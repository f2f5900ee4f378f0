"""Outside its windows nothing of an account is started, by the database's clock."""

from __future__ import annotations

import json
from datetime import datetime, timedelta

import pytest

from tests.integration.profile_fixtures import closed_now
from worker.claiming import held_back
from worker.claiming.why import sentence_about
from worker.profiles import account_hours, account_rules, store
from worker.profiles.account_rules import Change


def row(*windows, zone="Europe/Berlin", closed=()):
    return {
        "id": "a",
        "windows": json.dumps(windows) if windows else None,
        "timezone": zone,
        "closed_days": json.dumps(closed) if closed else None,
    }


@pytest.fixture
def window(database):
    """Set a window of the account that is an hour long and begins so many hours from now."""

    def window(hours: int, account: str = "a1", **more) -> None:
        now = database.fetch_all("database_time")[0]["now"]
        begin, end = now + timedelta(hours=hours), now + timedelta(hours=hours + 1)
        text = f"{begin:%H:%M}-{end:%H:%M}"
        change = Change(windows=(text,), timezone="UTC", **more)
        account_rules.set_rules(database, account, change, by="me")

    return window


def test_an_account_is_judged_by_its_zone_and_told_when_it_opens():
    closed = account_hours.judge(row("mon-fri 09:00-18:00"), datetime(2026, 11, 20, 18, 30))  # noqa: DTZ001

    assert closed.key == "account:a"
    assert closed.reason == (
        "account a is outside its windows until Mon 2026-11-23 09:00 (Europe/Berlin)"
    )
    assert closed.seconds == (2 * 24 + 13.5) * 3600
    assert account_hours.judge(row("09:00-18:00"), datetime(2026, 11, 20, 8, 0)) is None  # noqa: DTZ001


def test_a_closed_day_alone_closes_that_day_alone():
    christmas = row(closed=("2026-12-25",))

    assert account_hours.judge(christmas, datetime(2026, 12, 25, 12)).seconds == 11 * 3600  # noqa: DTZ001
    assert account_hours.judge(christmas, datetime(2026, 12, 26, 12)) is None  # noqa: DTZ001


def test_a_zone_that_this_machine_does_not_know_holds_its_account_back():
    closed = account_hours.judge(row("09:00-18:00", zone="Mars/Olympus"), datetime(2026, 1, 1))  # noqa: DTZ001

    assert closed.seconds is None
    assert "unknown time zone 'Mars/Olympus'" in closed.reason


def test_jobs_wait_for_the_window_however_they_name_the_account(
    database, queue, add, worker, window
):
    add("p1", account_id="a1")
    store.add_account(database, "a2", by="me")
    ids = [
        queue.enqueue("visit", {}, account_id="a1"),
        queue.enqueue("visit", {}, profile_id="p1"),
        queue.enqueue("visit", {"manifest": {"account": "a1"}}),
        queue.enqueue("visit", {}, account_id="a2"),
    ]
    window(2)
    window(2, "a2")

    assert worker.claim_now() is None
    assert {queue.get(job_id)["attempts"] for job_id in ids} == {0}
    assert 3600 < closed_now(database)["profile:p1"].seconds <= 7200
    for job_id in ids[:3]:
        said = sentence_about(database, queue.get(job_id))
        assert "account a1 is outside its windows until" in said
    assert sum(item.jobs for item in held_back.count(database)) == 4


def test_the_gate_refuses_what_a_search_has_let_through(database, queue, add, worker, window):
    add("p1", account_id="a1")
    queue.enqueue("visit", {}, profile_id="p1")
    assert worker.candidates.has_next()
    window(2)

    assert worker.claim() is None


def test_within_its_window_an_account_works(database, queue, add, worker, window):
    add("p1", account_id="a1")
    job_id = queue.enqueue("visit", {}, account_id="a1")
    window(0)

    assert worker.claim_now().job_id == job_id


def test_an_account_that_is_paused_says_so_whatever_its_windows(database, queue, add, window):
    add("p1", account_id="a1")
    window(2)
    store.pause_account(database, "a1", reason="captcha", by="me")

    assert closed_now(database)["account:a1"].reason == "account a1 is paused: captcha"
