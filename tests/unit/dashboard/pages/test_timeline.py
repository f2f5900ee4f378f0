"""The timeline's window is moved and zoomed by addresses, within what is kept."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from worker.dashboard.pages.timeline import FURTHEST, Window
from worker.dashboard.wording import Clock

NOW = datetime(2026, 2, 1, 7, 2)  # noqa: DTZ001 - as the database has it


def test_a_live_window_stays_live_when_it_is_zoomed():
    window = Window("12h", NOW, NOW)

    assert window.is_live
    assert window.since == NOW - timedelta(hours=12)
    assert window.link("2h") == {"range": "2h"}


def test_earlier_goes_back_and_later_comes_back_to_now():
    earlier = Window("2h", NOW, NOW).link(by=-0.5)
    assert earlier == {"range": "2h", "until": "2026-02-01T06:02"}

    window = Window("2h", NOW - timedelta(hours=1), NOW)

    assert not window.is_live
    assert window.link(by=0.5) == {"range": "2h"}


def test_zooming_in_keeps_the_middle():
    window = Window("12h", NOW - timedelta(hours=12), NOW)

    link = window.link("2h")

    middle = window.until - timedelta(hours=6)
    assert link == {"range": "2h", "until": f"{middle + timedelta(hours=1):%Y-%m-%dT%H:%M}"}


def test_further_back_than_minutes_are_kept_nothing_leads():
    assert Window("24h", NOW - FURTHEST, NOW).link(by=-0.5) is None


def test_the_night_before_is_named_by_the_evening_that_it_began_in():
    clock = Clock(UTC, "UTC")

    name, link = Window("12h", NOW, NOW).night_before(clock)
    assert (name, link) == ("Night of 30 Jan", {"range": "12h", "until": "2026-01-31T06:00"})

    before = Window("12h", datetime(2026, 1, 31, 6), NOW)  # noqa: DTZ001 - as the database has it
    assert before.night_before(clock)[0] == "Night of 29 Jan"
    assert Window("12h", NOW - FURTHEST, NOW).night_before(clock) is None
