"""Slots by their flags, and as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.errors import UsageError
from worker.slot_numbers import slots_in, slots_text, total_of


@given(st.sets(st.integers(0, 60)))
def test_slots_are_read_as_they_were_written(slots):
    assert set(slots_in(slots_text(slots))) == slots


@pytest.mark.parametrize(
    ("slots", "text"), [((), ""), ((4,), "4"), ((5, 0, 1, 2), "0-2,5"), ((3, 4), "3-4")]
)
def test_neighbours_are_written_together(slots, text):
    assert slots_text(slots) == text


def test_shared_slots_have_no_number_until_somebody_says_one():
    assert total_of("auto", 6, 0, None, helps=True) is None
    assert total_of("auto", 6, 0, 4, helps=True) == 4


@pytest.mark.parametrize(
    ("slots", "workers", "offset", "total", "helps", "said"),
    [
        ("auto", 6, 6, None, True, "leave --offset away"),
        ("auto", 6, 0, None, False, "leave --no-help away"),
        ("indexed", 6, 0, None, True, "--slots indexed needs --total"),
        ("indexed", 6, 18, 18, True, "raise --total or lower --offset"),
    ],
)
def test_flags_that_do_not_fit_are_refused(slots, workers, offset, total, helps, said):
    with pytest.raises(UsageError, match=said):
        total_of(slots, workers, offset, total, helps=helps)
