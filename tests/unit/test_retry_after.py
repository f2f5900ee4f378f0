"""When a site asks to be left alone for a while, its words are read."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from worker.retry_after import (
    LONGEST_SHARED_SECONDS,
    LONGEST_WAIT_SECONDS,
    retry_after_seconds,
    shared_wait_seconds,
)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("120", 120.0),
        ("Mon, 16 Nov 2026 02:10:00 GMT", 600.0),
        ("Mon, 16 Nov 2026 01:00:00 GMT", 0.0),
        ("9" * 400, LONGEST_WAIT_SECONDS),
        ("soon", None),
        ("-5", None),
        ("", None),
    ],
)
def test_retry_after_is_read_as_seconds_or_as_a_date(text, seconds):
    now = datetime(2026, 11, 16, 2, 0, tzinfo=UTC)

    assert retry_after_seconds(text, now) == seconds


@pytest.mark.parametrize(
    ("asked", "seconds"),
    [(None, 0.0), (0.0, 0.0), (120.0, 120.0), (30 * 86400.0, LONGEST_SHARED_SECONDS)],
)
def test_others_are_held_back_for_an_hour_at_most(asked, seconds):
    assert shared_wait_seconds(asked) == seconds
