"""Many idle workers together ask the server no more often than a few."""

from __future__ import annotations

from itertools import pairwise

import pytest

from worker.execution import idling


@pytest.mark.parametrize(("workers", "seconds"), [(1, 0.5), (12, 0.5), (24, 1.0), (500, 5.0)])
def test_each_of_many_waits_longer_up_to_a_limit(workers, seconds):
    assert idling.most_wait(workers) == seconds


@pytest.mark.parametrize("workers", [12, 50, 100, 120])
def test_up_to_120_look_as_often_together_as_12(workers):
    assert workers / idling.most_wait(workers) <= 24


def test_waits_grow_from_a_short_one_to_the_longest():
    waits = [0.0]
    while waits[-1] < 2.0:
        waits.append(idling.next_wait(waits[-1], most_seconds=2.0))

    assert waits[1] == idling.MIN_SECONDS
    assert waits[-1] == 2.0
    assert all(later <= 2 * sooner for sooner, later in pairwise(waits[1:]))
