"""NEW has one meaning in `errors`, the dashboard, the report, a run's summary and messages."""

from __future__ import annotations

import json
from datetime import UTC, timedelta

import pytest

from tests.integration.reporting.night.invented_night import insert, invent, last_id
from worker.dashboard import facts
from worker.history import dead_letters
from worker.notices import new_groups
from worker.reporting import nights
from worker.reporting.night import window
from worker.reporting.night.gather import gather

EARLY, FORMER = "b81e07d400000000", "5c20aa9100000000"


@pytest.fixture
def now(database):
    return database.fetch_all("database_time")[0]["now"]


@pytest.fixture
def evening(now, monkeypatch):
    """Let the night begin fourteen hours ago, whatever the time of day is."""
    found = (now - timedelta(hours=14)).replace(second=0, microsecond=0)
    monkeypatch.setattr(nights, "EVENING", found.time())
    return found


@pytest.fixture
def invented(database, now, evening, tmp_path):
    """A night of many runs; of three groups one was seen before it, one in its first hour."""
    found = invent(database, now, tmp_path, jobs=200)
    for key, seconds in ((EARLY, 1), (FORMER, -1)):
        database.run_statement(
            "UPDATE failure_groups SET first_seen = %(at)s WHERE fingerprint = %(key)s",
            {"at": evening + timedelta(seconds=seconds), "key": key},
        )
    return found


def run_of_cron(database, began, ended, failed=1):
    row = {
        "host": "night-1", "machine_id": "", "boot_id": "", "pid_namespace": 0, "pid": 1,
        "pid_started": 1, "first_slot": 0, "workers": 1, "total": 1, "started_at": began,
        "heartbeat_at": ended, "ended_at": ended,
        "summary": json.dumps({"done": 0, "failed": failed, "retried": 0}),
    }  # fmt: skip
    insert(database, "runs", [row])
    return last_id(database, "runs")


def new_in(rows):
    return {row["fingerprint"] for row in rows if row["is_new"]}


def test_new_means_not_seen_before_this_night_wherever_it_is_said(
    database, invented, now, tmp_path, monkeypatch
):
    monkeypatch.setattr(new_groups, "local_zone", lambda: UTC)
    new = {"3f9a1c2e00000000", EARLY}
    # Cron has started another run since, in which a job failed: that makes nothing old.
    late = run_of_cron(database, now - timedelta(minutes=4), now - timedelta(minutes=1))

    report = gather(database, window.last_night(database, UTC), tmp_path)
    of_run = gather(database, window.of_run(database, invented.run_id, UTC), tmp_path)
    dashboard = facts.gather(database, UTC)
    summary = dead_letters.groups_of_run(
        database, invented.run_id, 9, nights.new_since_of_run(database, invented.run_id, UTC)
    )

    assert new_in(dead_letters.groups(database, nights.new_since(database, UTC))) == new
    assert {group.key for group in dashboard.groups if group.is_new} == new
    assert {group.name for group in report.groups if group.is_new} == new
    assert {group.name for group in of_run.groups if group.is_new} == new
    assert {group["group"] for group in summary if group["is_new"]} == new
    assert {group.fingerprint for group in new_groups.take(database, late, 1)} == new
    assert report.group_totals.new == 2


def test_in_an_evening_without_work_it_is_the_night_before(database, invented, now, monkeypatch):
    """Which `report` tells of then, too."""
    evening = (now - timedelta(minutes=2)).replace(second=0, microsecond=0)
    monkeypatch.setattr(nights, "EVENING", evening.time())
    found = nights.this_night(database, UTC)

    assert found.run is not None
    assert found.run.run_id == invented.run_id
    assert nights.new_since(database, UTC) == evening - timedelta(days=1)
    assert window.last_night(database, UTC).new_since == evening - timedelta(days=1)


def test_a_run_that_found_nothing_to_do_is_no_night(database, invented, now, monkeypatch):
    evening = (now - timedelta(minutes=2)).replace(second=0, microsecond=0)
    monkeypatch.setattr(nights, "EVENING", evening.time())
    began = now - timedelta(minutes=4)
    run_of_cron(database, began, began + timedelta(seconds=1), failed=0)

    assert nights.this_night(database, UTC).run.run_id == invented.run_id
