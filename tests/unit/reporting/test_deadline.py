"""Whether the rest is done before runs stop: clearly not, clearly so, or too early to tell."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from tests.unit.reporting.night.hostile_night import hostile_night
from worker.recovery.live_runs import Life
from worker.reporting.deadline import deadline, is_late, will_be_late

START = datetime(2026, 1, 31, 17)  # noqa: DTZ001 - UTC, as the database tells it.
NOW = START + timedelta(hours=8)


def run(seconds=None):
    """A run since 17:00 that has just beaten, and claims so much longer."""
    pulse = {} if seconds is None else {"claims_for": seconds}
    any_run = hostile_night("night-1").window.runs[0]
    return replace(
        any_run, started_at=START, heartbeat_at=NOW, ended_at=None, life=Life.ALIVE, pulse=pulse
    )


def test_runs_stop_when_the_last_of_them_claims_no_more():
    assert deadline([run(3600), run(1800)]) == NOW + timedelta(hours=1)
    assert deadline([run(3600), run()]) is None, "one of them goes on"
    assert deadline([]) is None


def test_a_deadline_is_told_to_the_minute_though_a_beat_takes_its_time():
    assert run(3599.4).claims_until == run(3600.6).claims_until == NOW + timedelta(hours=1)


def test_what_is_left_at_this_rate_is_held_against_the_deadline():
    assert will_be_late([run(3600)], 5000, NOW)
    assert not will_be_late([run(3600)], 3000, NOW)
    assert not will_be_late([run(3600), run()], 1e9, NOW)
    assert not will_be_late([run(3600)], None, NOW)


@pytest.mark.parametrize(
    ("eta", "now", "late"),
    [
        (None, 1000, None),
        (9000, 100, None),
        (9000, 1000, False),
        (9400, 1000, None),
        (10000, 1000, True),
        (500, 9700, None),
    ],
    ids=["no rate", "too early", "in time", "about in time", "too late", "the end tells"],
)
def test_a_run_is_late_when_the_rest_takes_clearly_longer_than_there_is_time(eta, now, late):
    assert is_late(eta, began=0, until=10_000, now=now) is late


def test_a_run_without_a_limit_is_never_late():
    assert is_late(1e9, began=0, until=None, now=5000) is None
