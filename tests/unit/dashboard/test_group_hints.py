"""What is proved about a group of failures, and nothing else."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from worker.dashboard.facts import Facts, Group
from worker.dashboard.group_hints import hint_of
from worker.dashboard.wording import Clock
from worker.reporting.events import Event, Kind
from worker.system.identity import this_host

NOW = datetime(2026, 2, 1, 7)  # noqa: DTZ001 - UTC, as the database tells it.
CLOCK = Clock(UTC, "UTC")
CHANGE = {"selector": ".price", "then": 1, "now": 0, "nearest": ".product-price"}


@pytest.fixture
def hint(tmp_path):
    def of(*, change=None, closed=None, failed_at=NOW - timedelta(hours=5)):
        (tmp_path / "7" / "1").mkdir(parents=True)
        good = {"job_id": 12, "at": "2026-01-31T22:58:00Z", "url": "", "comparison": change}
        (tmp_path / "7" / "1" / "error.json").write_text(json.dumps({"last_good": good}))
        sample = {"id": 7, "job_id": 7, "site": "a.example", "evidence": "7/1",
                  "evidence_dir": None, "evidence_host": this_host().name}  # fmt: skip
        row = {"fingerprint": "3f9a1c2e00000001", "last_seen": failed_at}
        began = NOW - timedelta(hours=6)
        breaker = Event(Kind.BREAKER, "site:a.example", began, closed, "")
        known = Facts(NOW, {}, 0, events=(breaker,))
        return hint_of(Group(row, (sample,)), known, tmp_path, CLOCK)

    return of


def test_a_page_that_has_changed_makes_a_retry_hopeless(hint):
    found = hint(change=CHANGE, closed=NOW)

    assert found.is_hopeless
    assert found.rest == (
        "`.price` matched 1 element at 22:58, 0 now; nearest now: `.product-price`."
    )
    assert "rehearse --group 3f9a1c2e00000001" in found.then


def test_a_site_that_answers_again_is_worth_a_retry(hint):
    found = hint(closed=NOW - timedelta(hours=4))

    assert not found.is_hopeless
    assert "Its breaker closed at 03:00" in found.rest


@pytest.mark.parametrize("closed", [None, NOW - timedelta(hours=5, minutes=30)])
def test_nothing_is_said_while_the_breaker_is_open_or_jobs_failed_since(hint, closed):
    assert hint(closed=closed) is None


def test_a_selector_that_still_matches_proves_nothing(hint):
    assert hint(change=CHANGE | {"now": 1}) is None
