"""A heart does its chores on time: a slow database makes none of them rarer but the costly."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest

from worker.supervisor import chore as chores
from worker.supervisor.chore import Chore


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test moves."""
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def test_a_renewal_that_took_long_is_repeated_on_time(clock):
    done = []

    def renew():
        done.append(clock[0])
        # The network held the answer back.
        clock[0] += 4.0

    chore = Chore(5.0, renew)
    for _ in range(100):
        chore.run_if_due()
        clock[0] += 0.25

    assert len(done) > 5
    assert max(later - earlier for earlier, later in pairwise(done)) < 5.5


def test_a_costly_chore_takes_at_most_a_hundredth_of_the_time(clock):
    spent = []

    def count():
        spent.append(0.2)
        clock[0] += 0.2

    chore = Chore(1.0, count, is_costly=True)
    while clock[0] < 1200:
        chore.run_if_due()
        clock[0] += 0.25

    assert sum(spent) <= 200 / 100 + 0.5


def test_a_costly_chore_that_an_outage_held_up_does_not_rest_for_minutes(clock):
    chore = Chore(1.0, lambda: clock.__setitem__(0, clock[0] + 10.0), is_costly=True)

    chore.run_if_due()

    assert chore.next_at - 1000.0 <= chores.MAX_REST_SECONDS
