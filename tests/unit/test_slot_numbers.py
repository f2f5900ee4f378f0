"""Slots by their flags, and as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.errors import UsageError
from worker.slot_numbers import AutoWorkers, slots_in, slots_text, total_of, workers_of


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
        ("fixed", AutoWorkers(6), 0, None, False, "leave --no-help away"),
        ("fixed", AutoWorkers(6), 6, None, True, "need --slots auto"),
        ("fixed", AutoWorkers(6), 0, 18, True, "need --slots auto"),
        ("indexed", AutoWorkers(6), 0, 18, True, "need --slots auto"),
    ],
)
def test_flags_that_do_not_fit_are_refused(slots, workers, offset, total, helps, said):
    with pytest.raises(UsageError, match=said):
        total_of(slots, workers, offset, total, helps=helps)


def test_a_number_of_workers_that_follows_the_machine_has_all_slots_or_shares_them():
    assert total_of("fixed", AutoWorkers(6), 0, None, helps=True) == 6
    # As it is asked again when settings are copied.
    assert total_of("fixed", AutoWorkers(6), 0, 6, helps=True) == 6
    assert total_of("auto", AutoWorkers(6), 0, 18, helps=True) == 18


@pytest.mark.parametrize(
    ("text", "number", "is_auto"),
    [("6", 6, False), (" auto:12 ", 12, True), ("AUTO:1", 1, True), ("-1", -1, False)],
)
def test_workers_are_a_number_or_as_many_as_pay(text, number, is_auto):
    found = workers_of(text)

    assert (found, isinstance(found, AutoWorkers)) == (number, is_auto)


def test_without_a_limit_of_ones_own_there_is_one_by_the_cores():
    found = workers_of("auto")

    assert isinstance(found, AutoWorkers)
    assert found >= 16


@pytest.mark.parametrize("text", ["many", "auto:", "auto:-2", "auto:x", "6.5", "auto 6"])
def test_what_is_no_number_of_workers_is_refused(text):
    with pytest.raises(ValueError, match="write 6, auto or auto:12"):
        workers_of(text)
