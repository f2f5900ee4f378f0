"""Which sites are left alone, in a sentence: only those that are."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from worker.dashboard import shut_sites
from worker.dashboard.facts import Facts
from worker.dashboard.wording import Clock
from worker.guards.keys import ClosedKey
from worker.reporting.events import Event, Kind

NOW = datetime(2026, 2, 1, 2, 14)  # noqa: DTZ001 - as the database has it


def told(*sites, keys=None, ended=None):
    events = tuple(
        Event(Kind.BREAKER, f"site:{site}", NOW - timedelta(minutes=9), ended, "") for site in sites
    )
    shut = keys if keys is not None else {f"site:{site}": 240.0 for site in sites}
    closed = {key: ClosedKey(key, "the breaker is open", seconds) for key, seconds in shut.items()}
    return shut_sites.told_of(Facts(NOW, {}, 0, events=events, closed=closed), Clock(UTC, "UTC"))


def test_the_site_is_named_with_when_it_is_looked_at_again():
    assert told("portal.example.org") == (
        "One site is left alone, portal.example.org; Nightshift looks again at 02:18 by itself."
    )


def test_of_several_the_next_look_is_told():
    keys = {"site:a.example": 600.0, "task-at-site:visit@b.example": 60.0}

    assert told("a.example", "b.example", keys=keys) == (
        "Left alone are a.example, b.example; Nightshift looks again at 02:15 by itself."
    )


def test_one_that_is_held_open_waits_for_a_person():
    assert told("a.example", keys={"site:a.example": None}).endswith(
        "; until a person closes its breaker."
    )


def test_nothing_is_said_of_sites_that_are_open_again_or_only_limited():
    assert told("a.example", ended=NOW) == ""
    assert told("a.example", keys={}) == ""
    assert told(keys={"site:a.example": 1.0}) == ""
