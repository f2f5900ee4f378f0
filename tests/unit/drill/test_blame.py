"""The drill knows whom it has hit; what it did to the whole pool excuses nothing."""

from __future__ import annotations

import pytest

from tests.unit.drill.strikes import strike
from worker.drill.blame import Hit, hits_of


def test_a_fault_hits_its_victims_for_as_long_as_it_lasts():
    stopped = strike(5.0, 8.0, [101, 102])
    stopped.struck_at_wall = 1000.0

    assert hits_of([stopped]) == [
        Hit(101, 1000.0, pytest.approx(1003.0)),
        Hit(102, 1000.0, pytest.approx(1003.0)),
    ]


def test_a_fault_of_the_whole_pool_hits_nobody():
    assert hits_of([strike(5.0, 8.0, None)]) == []
