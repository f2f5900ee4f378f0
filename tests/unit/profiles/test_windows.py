"""Windows go by the clocks on the wall, over midnight, over holidays, and when clocks are set."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from worker.errors import UsageError
from worker.profiles import windows
from worker.profiles.windows import Hours, find_zone, parse_day, parse_window


def hours(*texts: str, zone: str = "Europe/Berlin", closed: tuple[str, ...] = ()) -> Hours:
    return Hours(
        tuple(map(parse_window, texts)), find_zone(zone), frozenset(map(parse_day, closed))
    )


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def opening(found: Hours, text: str) -> str:
    assert not found.is_open(utc(text))
    opens = found.opens_at(utc(text))
    assert found.is_open(opens)
    return opens.astimezone(UTC).strftime("%Y-%m-%d %H:%M")


@pytest.mark.parametrize(
    ("text", "moment", "is_open"),
    [
        ("09:00-18:00", "2026-11-18 07:59", False),
        ("09:00-18:00", "2026-11-18 08:00", True),
        ("09:00-18:00", "2026-11-18 16:59", True),
        ("09:00-18:00", "2026-11-18 17:00", False),
        # The same hour of UTC in summer.
        ("09:00-18:00", "2026-07-18 07:00", True),
        ("22:00-06:00", "2026-11-18 22:30", True),
        ("22:00-06:00", "2026-11-18 04:59", True),
        ("22:00-06:00", "2026-11-18 05:00", False),
        ("00:00-24:00", "2026-11-18 23:00", True),
        ("mon-fri 09:00-18:00", "2026-11-21 10:00", False),
        ("sat,sun 09:00-18:00", "2026-11-21 10:00", True),
        ("fri-mon 09:00-18:00", "2026-11-22 10:00", True),
        # Friday's night goes on into Saturday, Saturday's does not begin.
        ("fri 22:00-06:00", "2026-11-21 03:00", True),
        ("fri 22:00-06:00", "2026-11-21 22:00", False),
    ],
)
def test_a_window_is_open_by_the_clocks_of_its_zone(text, moment, is_open):
    assert hours(text).is_open(utc(moment)) is is_open


def test_several_windows_are_open_when_one_of_them_is():
    found = hours("09:00-12:00", "13:00-18:00")

    assert found.is_open(utc("2026-11-18 10:00"))
    assert opening(found, "2026-11-18 11:30") == "2026-11-18 12:00"


def test_the_next_opening_passes_over_the_week_and_over_closed_days():
    found = hours("mon-fri 09:00-18:00", closed=("2026-12-25", "2026-12-28"))

    assert opening(found, "2026-12-24 18:00") == "2026-12-29 08:00"
    assert opening(found, "2026-12-25 10:00") == "2026-12-29 08:00"


def test_a_night_belongs_to_the_day_it_begins_on_and_is_closed_with_it():
    found = hours("fri,sat 22:00-06:00", closed=("2026-12-25",))

    # Friday is excepted: neither its evening nor its early hours on Saturday.
    assert opening(found, "2026-12-25 22:30") == "2026-12-26 21:00"
    assert opening(found, "2026-12-26 01:00") == "2026-12-26 21:00"
    assert found.is_open(utc("2026-12-27 01:00"))


def test_on_a_closed_day_the_night_before_ends_at_midnight():
    found = hours("22:00-06:00", "12:00-13:00", closed=("2026-12-25",))

    assert found.is_open(utc("2026-12-24 22:30"))
    assert opening(found, "2026-12-24 23:30") == "2026-12-26 11:00"


def test_the_one_weekday_may_be_a_closed_day_for_weeks():
    closed = tuple(str(date(2026, 12, day)) for day in (7, 14, 21, 28))

    assert opening(hours("mon 09:00-10:00", closed=closed), "2026-12-01 12:00") == (
        "2027-01-04 08:00"
    )


def test_a_window_in_the_hour_that_is_passed_over_opens_when_clocks_are_set_forward():
    # In Berlin, 02:00 becomes 03:00 on 2027-03-28 at 01:00 UTC.
    assert opening(hours("02:30-04:00"), "2027-03-28 00:30") == "2027-03-28 01:00"
    assert opening(hours("02:10-02:50"), "2027-03-28 00:30") == "2027-03-29 00:10"


def test_a_window_in_the_hour_that_comes_twice_is_open_twice():
    found = hours("02:00-03:00")

    assert found.is_open(utc("2026-10-25 00:30"))
    assert found.is_open(utc("2026-10-25 01:30"))
    assert opening(found, "2026-10-24 23:30") == "2026-10-25 00:00"
    assert opening(found, "2026-10-25 02:00") == "2026-10-26 01:00"


def test_a_known_opening_is_not_searched_for_again(monkeypatch):
    found = hours("09:00-18:00")
    first = found.opens_at(utc("2026-11-18 05:00"))
    monkeypatch.setattr(Hours, "_opening_after", None)

    assert found.opens_at(utc("2026-11-18 06:00")) == first


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("09:00-09:00", "never opens"),
        ("00:00-00:00", "never opens"),
        ("9-18", "is not understood"),
        ("09:00-18:60", "no such time"),
        ("24:00-06:00", "no such time"),
        ("09:00-25:00", "no such time"),
        ("mon-fry 09:00-18:00", "'mon-fry' is no weekday"),
        ("", "is not understood"),
    ],
)
def test_a_window_that_cannot_be_meant_is_refused(text, why):
    with pytest.raises(UsageError, match=why):
        parse_window(text)


@pytest.mark.parametrize("text", ["mon,tue,wed,thu,fri 09:00-18:00", "22:00-06:00", "00:00-24:00"])
def test_a_window_is_kept_as_it_can_be_read_again(text):
    assert str(parse_window(text)) == text


@pytest.mark.parametrize(
    "name", ["Europe/Berln", "Europe", "../../etc/passwd", "", "europe/berlin "]
)
def test_an_unknown_zone_is_refused(name):
    with pytest.raises(UsageError, match="unknown time zone"):
        find_zone(name)


@pytest.mark.parametrize("name", ["localtime", "posixrules", "Factory"])
def test_a_zone_that_is_no_place_is_refused(name):
    with pytest.raises(UsageError, match="is another on each machine; write one as Europe/Berlin"):
        find_zone(name)


def test_a_mistyped_zone_is_answered_with_the_one_that_is_probably_meant():
    with pytest.raises(UsageError, match=r"did you mean Europe/Berlin\?"):
        find_zone("europe/berln")


def test_a_machine_without_time_zone_data_says_so(monkeypatch):
    monkeypatch.setattr(windows, "available_timezones", set)

    with pytest.raises(UsageError, match="install the package tzdata"):
        find_zone("Europe/Berln")


def test_a_day_that_is_none_is_refused():
    with pytest.raises(UsageError, match="2026-02-30"):
        parse_day("2026-02-30")
