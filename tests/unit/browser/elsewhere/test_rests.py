"""Rests of endpoints: longer each time, known to every process, forgotten after a success."""

from __future__ import annotations

import os

import pytest

from worker.browser.elsewhere import rests
from worker.browser.elsewhere.rests import Rests

# Later Pythons warn of forks beside threads, which other tests may have left running.
pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")


def test_an_endpoint_that_fails_rests_longer_each_time(monkeypatch):
    now = 1000.0
    monkeypatch.setattr(rests.time, "monotonic", lambda: now)
    known, waits = Rests(2), []
    for _ in range(10):
        waits.append(known.fail(1))
        now += waits[-1] + 0.01

    assert 0.7 <= waits[0] <= 1.3
    assert waits[3] > 2 * waits[0]
    assert max(waits) <= rests.LONGEST_SECONDS * 1.25
    assert known.seconds_left(0) == 0


def test_workers_that_find_the_same_at_once_count_as_one():
    known = Rests(1)
    first = known.fail(0)

    assert known.fail(0) <= first


def test_a_success_forgets_what_was():
    known = Rests(1)
    known.fail(0, is_lasting=True)
    assert known.is_lasting(0)

    known.succeed(0)

    assert known.seconds_left(0) == 0
    assert not known.is_lasting(0)


def test_what_one_process_learns_all_know():
    known = Rests(2)
    pid = os.fork()
    if pid == 0:
        known.fail(1, is_lasting=True)
        os._exit(0)
    os.waitpid(pid, 0)

    assert known.seconds_left(1) > rests.LASTING_SECONDS - 60
    assert known.seconds_left(0) == 0
