"""Figures and times as people read them."""

from __future__ import annotations

import pytest

from worker.reporting.night import words


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(44, "44 s"), (119, "119 s"), (360, "6 min"), (7500, "2 h 05 min"), (266_400, "3 d 2 h")],
)
def test_how_long_something_lasted(seconds, text):
    assert words.span(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, "–"), (3.94, "3.9 s"), (59.96, "0 min 59 s"), (260, "4 min 20 s")],
)
def test_how_long_a_job_took(seconds, text):
    assert words.took(seconds) == text


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [
        (341, 50_000, "341 (0.7 %)"),
        (0, 50_000, "0"),
        (1, 50_000, "1 (under 0.1 %)"),
        (3, 4, "3 (75 %)"),
    ],
)
def test_a_share_never_stands_alone(part, whole, text):
    assert words.share(part, whole) == text


def test_a_strangers_text_loses_secrets_lines_and_length():
    cleaned = words.clean("https://me:hunter2@example.com/\n\x1b[31m" + "x" * 5000)

    assert "hunter2" not in cleaned
    assert "\n" not in cleaned
    assert "\x1b" not in cleaned
    assert len(cleaned) <= words.LONGEST
