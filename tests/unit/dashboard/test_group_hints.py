"""What is proved about a group of failures, and nothing else."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from worker.dashboard.facts import Facts
from worker.dashboard.failed_groups import Group
from worker.dashboard.group_hints import Outlook, hint_of
from worker.dashboard.wording import Clock
from worker.guards.keys import ClosedKey
from worker.history.todo import Item, Todo
from worker.reporting.events import Event, Kind
from worker.system.identity import this_host

NOW = datetime(2026, 2, 1, 7)  # noqa: DTZ001 - UTC, as the database tells it.
CLOCK = Clock(UTC, "UTC")
CHANGE = {"selector": ".price", "then": 1, "now": 0, "nearest": ".product-price"}


@pytest.fixture
def hint(tmp_path):
    def of(
        *, change=None, closed=None, failed_at=NOW - timedelta(hours=5), half_done=0, shut=(),
        aside=None, done=0,
    ):  # fmt: skip
        (tmp_path / "7" / "1").mkdir(parents=True, exist_ok=True)
        good = {"job_id": 12, "at": "2026-01-31T22:58:00Z", "url": "", "comparison": change}
        (tmp_path / "7" / "1" / "error.json").write_text(json.dumps({"last_good": good}))
        sample = {"id": 7, "job_id": 7, "site": "a.example", "evidence": "7/1",
                  "evidence_dir": None, "evidence_host": this_host().name,
                  "used_profile": "acme-07"}  # fmt: skip
        row = {"fingerprint": "3f9a1c2e00000001", "last_seen": failed_at, "jobs": 5,
               "half_done": half_done, "task": "price", "muted_at": None}  # fmt: skip
        breaker = Event(Kind.BREAKER, "site:a.example", NOW - timedelta(hours=6), closed, "")
        items = [] if aside is None else [aside]
        known = Facts(
            NOW, {}, 0, events=(breaker,), closed={each.key: each for each in shut},
            todo=Todo(items), answered={"a.example": done},
        )  # fmt: skip
        return hint_of(Group(row, (sample,)), known, tmp_path, CLOCK)

    return of


def test_a_page_that_has_changed_makes_a_retry_hopeless(hint):
    found = hint(change=CHANGE, closed=NOW)

    assert found.outlook is Outlook.FAILS
    assert not found.helps
    assert found.rest == (
        "`.price` matched 1 element at 22:58, 0 now; nearest now: `.product-price`."
    )
    assert found.brief == "The page has changed: last good at 22:58."
    assert "rehearse --group 3f9a1c2e00000001" in found.then


def test_a_site_that_answers_again_is_worth_a_retry(hint):
    found = hint(closed=NOW - timedelta(hours=4), done=1208)

    assert found.helps
    assert found.rest == (
        "Its breaker closed at 03:00; 1,208 jobs of this site are done since, and none has "
        "failed so."
    )


def test_a_site_that_has_done_nothing_since_is_said_to_answer_only(hint):
    found = hint(closed=NOW - timedelta(hours=4))

    assert found.rest == "Its breaker closed at 03:00, and none has failed so since."


@pytest.mark.parametrize("key", ["site:a.example", "task-at-site:price@a.example"])
def test_while_the_breaker_holds_its_jobs_back_a_retry_waits(hint, key):
    found = hint(shut=[ClosedKey(key, "the breaker of site:a.example is open: HTTP 503", 600.0)])

    assert found.outlook is Outlook.WAITS
    assert found.bold == "The breaker of a.example is open: HTTP 503."
    assert "looks again by itself at 07:10" in found.rest


def test_a_limit_that_is_reached_holds_no_group_to_be_hopeless(hint):
    limit = ClosedKey("site:a.example", "site:a.example is limited to 2 at once", 1.0)

    assert hint(shut=[limit], closed=NOW - timedelta(hours=4)).helps


def test_a_profile_that_is_set_aside_needs_a_person(hint):
    item = Item("profile", "acme-07", "review required: password", NOW, 4, "launcher.py profiles …")

    found = hint(aside=item, closed=NOW - timedelta(hours=4))

    assert found.outlook is Outlook.PERSON
    assert found.brief == "Profile acme-07 is set aside."


def test_a_profile_that_only_lacks_a_proxy_proves_nothing(hint):
    item = Item("profile", "acme-07", "it says neither …", None, 4, "launcher.py profiles …")

    assert hint(aside=item) is None


def test_a_group_that_may_be_half_done_needs_a_person(hint):
    assert hint(half_done=5, closed=NOW).outlook is Outlook.PERSON
    assert hint(half_done=4, closed=NOW - timedelta(hours=4)).helps


@pytest.mark.parametrize("closed", [None, NOW - timedelta(hours=5, minutes=30)])
def test_nothing_is_said_while_the_breaker_is_open_or_jobs_failed_since(hint, closed):
    assert hint(closed=closed) is None


def test_a_selector_that_still_matches_proves_nothing(hint):
    assert hint(change=CHANGE | {"now": 1}) is None
