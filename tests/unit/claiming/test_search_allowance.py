"""Looks in vain take a small share of the time, and no debt is paid off for ever."""

from __future__ import annotations

import time

import pytest

from worker.claiming.search_allowance import (
    DEBT_SECONDS,
    SAVED_SECONDS,
    SHARE,
    Allowance,
    rest_seconds,
)


@pytest.fixture
def clock(monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def test_looks_in_vain_take_no_more_than_their_share(clock):
    allowance, spent = Allowance(), 0.0
    while clock[0] < 2000.0:
        if allowance.is_left():
            clock[0] += 0.1
            spent += 0.1
            allowance.spend(0.1)
        clock[0] += 0.5

    assert spent <= SAVED_SECONDS + 1000.0 * SHARE + 0.1


def test_what_is_saved_up_can_be_spent_at_once_and_is_limited(clock):
    allowance = Allowance()
    clock[0] += 10_000.0

    allowance.spend(SAVED_SECONDS - 0.01)
    assert allowance.is_left()
    allowance.spend(0.02)

    assert not allowance.is_left()


def test_one_very_long_look_does_not_forbid_the_next_for_minutes(clock):
    allowance = Allowance()

    allowance.spend(100.0)

    assert not allowance.is_left()
    clock[0] += rest_seconds(DEBT_SECONDS) + 0.01
    assert allowance.is_left()
