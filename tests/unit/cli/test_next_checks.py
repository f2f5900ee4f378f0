"""The next look at what is closed is told as a time from now: never negative."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from worker.claiming import why
from worker.cli import limits, status
from worker.dashboard.wording import Clock
from worker.guards.keys import ClosedKey

# What opened while somebody was counting is looked at at once.
OVERDUE = ClosedKey("site:a.test", "site:a.test is closed", -3.2)
NOON = datetime.fromisoformat("2026-01-31T12:00:00")
CLOCK = Clock(UTC, "UTC")
BREAKER = {"name": "site:a.test", "state": "open", "held": None, "failing": ()}


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (lambda: why._waits(OVERDUE), "next check in 0 s"),
        (lambda: limits._breaker_line(BREAKER, OVERDUE), "next check in 0.0 s"),
        (lambda: CLOCK.after(NOON, -3.2), "12:00"),
        (lambda: status._opens(OVERDUE.seconds), "next check in 0.0 s"),
    ],
    ids=["why", "breakers", "dashboard", "status"],
)
def test_a_time_that_has_passed_is_now(told, said):
    text = told()

    assert said in text
    assert "-3" not in text
