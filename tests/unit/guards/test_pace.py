"""How long a cap lets nothing start, and warm-ups that cannot be meant."""

from __future__ import annotations

import pytest

from worker.errors import UsageError
from worker.guards import pace
from worker.guards.pace import DAY, HOUR, WarmUp, parse_warm_up


def test_a_warm_up_is_read():
    assert parse_warm_up("5..40/14d") == WarmUp(5, 40, 14 * 86_400)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("40..5/14d", "does not grow: 5 is not more than 40; write 5..40/14d"),
        ("5..5/14d", "does not grow"),
        ("0..5/14d", "lets nothing start at first"),
        ("5..40/0d", "ends before it starts"),
        ("5..40/-1d", "not a duration"),
        ("5..40", "is not understood"),
        ("5-40/14d", "is not understood"),
        ("5..99999999999/14d", "is out of range"),
        ("5..40/99999999999d", "is out of range"),
    ],
)
def test_a_warm_up_that_cannot_be_meant_is_refused(text, why):
    with pytest.raises(UsageError, match=why):
        parse_warm_up(text)


@pytest.mark.parametrize(
    ("day", "starts"), [(0, 5), (1.9, 9), (7, 22), (13.9, 39), (14, 40), (99, 40)]
)
def test_a_warm_up_grows_day_by_day_and_stays(day, starts):
    assert pace._warm_cap(WarmUp(5, 40, 14 * 86_400), day * DAY).starts == starts


def test_a_cap_opens_when_enough_starts_are_long_enough_ago():
    cap = pace._Cap(3, HOUR, "3 per hour")

    assert pace._wait_seconds(cap, [(10.0, 1), (100.0, 1)]) == 0.0
    assert pace._wait_seconds(cap, [(10.0, 1), (100.0, 1), (3000.0, 1)]) == HOUR + 60 - 3000
    assert pace._wait_seconds(cap, [(10.0, 1), (100.0, 2), (3000.0, 1)]) == HOUR + 60 - 100
    assert pace._wait_seconds(cap, [(10.0, 2), (HOUR + 60, 5)]) == 0.0


def test_a_cap_that_grows_opens_when_it_has_grown():
    cap = pace._Cap(2, DAY, "2 per day", grows_in_seconds=500.0)

    assert pace._wait_seconds(cap, [(10.0, 2)]) == 500.0


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("5..40/14d", "14 days"),
        ("5..40/1d", "1 day"),
        ("5..40/6h", "6 hours"),
        ("5..40/14", "14 s"),
    ],
)
def test_a_warm_up_tells_its_time_so_that_a_forgotten_unit_is_seen(text, time):
    assert f"5..40 per day within {time}" in str(parse_warm_up(text))
