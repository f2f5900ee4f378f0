"""Something that no job needs takes its share of a worker's time and no more."""

from __future__ import annotations

import pytest

from worker.execution.time_share import TimeShare


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


def spend(share, clock, seconds):
    with share.spending():
        clock.now += seconds


def test_the_first_time_comes_at_once_and_is_paid_for_afterwards(clock):
    share = TimeShare(0.01, clock)
    assert share.is_left
    spend(share, clock, 0.2)

    assert not share.is_left
    clock.now = 1000.0 + 19.9
    assert not share.is_left
    clock.now = 1000.0 + 20.1
    assert share.is_left


def test_what_failed_is_paid_for_too(clock):
    share = TimeShare(0.01, clock)

    def fail():
        with share.spending():
            clock.now += 2.0
            raise OSError("disk")

    with pytest.raises(OSError, match="disk"):
        fail()

    assert share.spent_seconds == pytest.approx(2.0)
    assert not share.is_left


def test_a_night_of_takings_is_within_the_share_whatever_each_costs(clock):
    share = TimeShare(0.01, clock)
    costs = [0.05, 0.3, 1.9, 0.1]
    for number in range(40_000):
        clock.now += 0.7
        if share.is_left:
            spend(share, clock, costs[number % len(costs)])

    whole = clock.now - 1000.0
    # Only the last one may not have been paid for yet.
    assert 0.009 * whole < share.spent_seconds <= 0.01 * whole + max(costs)
