"""How figures are written for people."""

from __future__ import annotations

import pytest

from worker.cli.wording import counted, duration, size


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 jobs"), (1, "1 job"), (2, "2 jobs"), (1000, "1,000 jobs")]
)
def test_one_is_singular_and_everything_else_plural(number, text):
    assert counted(number, "job") == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(4.25, "4.2 s"), (42, "42 s"), (200, "3 m 20 s"), (7500, "2 h 05 m"), (273600, "3 d 4 h")],
)
def test_a_duration_has_two_units_at_most(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("count", "text"), [(740, "740 B"), (12e6, "12.0 MB"), (5e9, "5.0 GB"), (3e12, "3.0 TB")]
)
def test_a_size_has_the_unit_that_fits(count, text):
    assert size(count) == text
