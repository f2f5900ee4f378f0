"""How long it is until a time of day, in whatever night."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import datetime

import pytest

from worker.errors import UsageError
from worker.time_of_day import seconds_until

HOUR = 3600.0


@pytest.fixture(autouse=True)
def in_berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Local time with a spring and an autumn, whatever this machine keeps."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
        time.tzset()
        yield
    time.tzset()


def local(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone()


@pytest.mark.parametrize(
    ("clock", "now", "hours"),
    [
        ("06:00", "2026-01-12T22:00", 8),
        ("6:00", "2026-01-12T05:30", 0.5),
        ("06:00", "2026-01-12T06:00", 24),
        ("00:00", "2026-12-31T23:45", 0.25),
        ("23:59", "2026-01-12T23:58:30", 1 / 120),
    ],
)
def test_it_is_as_long_as_the_clock_says(clock, now, hours):
    assert seconds_until(clock, local(now)) == pytest.approx(hours * HOUR)


@pytest.mark.parametrize(("evening", "hours"), [("2026-03-28T22:00", 7), ("2026-10-24T22:00", 9)])
def test_the_night_in_which_the_clock_is_changed_is_shorter_or_longer(evening, hours):
    assert seconds_until("06:00", local(evening)) == hours * HOUR


@pytest.mark.parametrize("clock", ["", "6", "24:00", "06:60", "06:00:00", "6am", "-1:00", "0600"])
def test_what_is_no_time_of_day_is_wrong_usage(clock):
    with pytest.raises(UsageError, match="is not a time of day; write it as 06:00") as refused:
        seconds_until(clock, local("2026-01-12T22:00"))
    assert refused.value.exit_code == 2
