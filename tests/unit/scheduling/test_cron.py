"""When a cron expression comes next, also where the clock is changed."""

from __future__ import annotations

from datetime import datetime
from itertools import islice

import pytest

from worker.errors import UsageError
from worker.scheduling import cron


def times(expression, zone, after, number):
    moment = datetime.fromisoformat(after)
    return [
        f"{each:%m-%d %H:%M}" for each in islice(cron.times_after(expression, zone, moment), number)
    ]


def test_times_are_of_the_zone_and_told_in_utc():
    found = times("0 18 * * 1-5", "Europe/Berlin", "2026-11-20 16:59", 3)

    assert found == ["11-20 17:00", "11-23 17:00", "11-24 17:00"]


def test_a_time_that_the_clock_leaves_out_comes_right_after_it():
    assert times("30 2 * * *", "Europe/Berlin", "2026-03-28 12:00", 2) == [
        "03-29 01:00",
        "03-30 00:30",
    ]


def test_a_time_that_comes_twice_is_taken_once():
    assert times("30 2 * * *", "Europe/Berlin", "2026-10-24 12:00", 2) == [
        "10-25 00:30",
        "10-26 01:30",
    ]


@pytest.mark.parametrize(
    ("expression", "zone", "problem"),
    [
        ("@daily", "UTC", "write five fields"),
        ("* * * * * *", "UTC", "write five fields"),
        ("61 * * * *", "UTC", "Bad minute"),
        ("0 0 30 2 *", "UTC", "Bad day-of-month"),
        ("0 18 * * *", "Berlin/Europe", "there is no such time zone"),
        ("0 18 * * *", "../../etc/passwd", "there is no such time zone"),
    ],
)
def test_what_is_no_schedule_is_refused(expression, zone, problem):
    with pytest.raises(UsageError, match=problem):
        cron.check(expression, zone)
