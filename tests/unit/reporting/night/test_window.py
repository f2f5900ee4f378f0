"""How a person's word for the beginning of a night is read."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from worker.errors import UsageError
from worker.reporting.night.window import parse_since

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime.fromisoformat("2026-02-01T05:52:00")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("18:00", "2026-01-31T17:00:00"),
        ("06:30", "2026-02-01T05:30:00"),
        ("2026-01-31T18:00", "2026-01-31T17:00:00"),
        ("2026-01-31", "2026-01-30T23:00:00"),
        ("2026-01-31T18:00Z", "2026-01-31T18:00:00"),
        ("12h", "2026-01-31T17:52:00"),
        ("90", "2026-02-01T05:50:30"),
    ],
)
def test_a_time_of_day_a_date_and_a_time_ago_are_understood(text, meant):
    assert parse_since(text, NOW, BERLIN) == datetime.fromisoformat(meant)


@pytest.mark.parametrize(
    "text", ["", "25:00", "yesterday", "2026-13-01", "2027-01-01", "0001-01-01", "0", "9" * 99]
)
def test_anything_else_is_refused_in_one_line(text):
    with pytest.raises(UsageError, match=r"^--since .*write 18:00, 2026-01-31T18:00 or 12h$"):
        parse_since(text, NOW, BERLIN)


def test_the_evening_before_is_found_over_a_night_in_which_the_hour_changes():
    morning = datetime.fromisoformat("2026-03-29T05:00:00")

    # 18:00 CET on the 28th, though the 29th is in summer time.
    assert parse_since("18:00", morning, BERLIN) == datetime.fromisoformat("2026-03-28T17:00:00")
