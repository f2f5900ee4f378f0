"""Flags: how durations are written."""

from __future__ import annotations

import pytest

from worker.flags import parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("600", 600),
        ("90s", 90),
        ("10m", 600),
        ("6h", 21_600),
        ("30d", 2_592_000),
        ("250ms", 0.25),
        ("1.5m", 90),
        (" 5 S ", 5),
        ("0", 0),
    ],
)
def test_a_duration_is_read_as_seconds(text, seconds):
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "m", "ten", "-5", "5w", "1h30m", "1,5s", "nan", "inf"])
def test_what_is_no_duration_is_refused_with_an_example(text):
    with pytest.raises(ValueError, match="write 600, 90s, 10m, 6h or 30d"):
        parse_duration(text)
