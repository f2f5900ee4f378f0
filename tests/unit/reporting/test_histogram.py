"""Histograms add up, and tell percentiles to the width of a bucket."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.database.statements import query
from worker.reporting.histogram import BOUNDS, Histogram, added


def of(values):
    return Histogram(Counter(bisect_right(BOUNDS, value) for value in values))


def test_the_bounds_in_the_sql_are_those_of_the_code():
    assert tuple(float(bound) for bound in query("bucket_bounds").split(",")) == BOUNDS


def test_the_bounds_grow():
    assert list(BOUNDS) == sorted(set(BOUNDS))


def test_nothing_has_no_percentile():
    assert Histogram().percentile(0.5) is None


@pytest.mark.parametrize("share", [0.5, 0.95, 0.99])
def test_a_percentile_lies_in_the_bucket_of_the_true_one(share):
    values = [0.1 * n for n in range(1, 1001)]
    true = values[int(share * len(values)) - 1]

    assert of(values).percentile(share) == pytest.approx(true, rel=0.15)


def test_what_is_longer_than_the_last_bound_counts_as_that():
    assert of([10 * BOUNDS[-1]]).percentile(0.5) == BOUNDS[-1]


def test_a_time_that_is_not_known_is_in_no_bucket():
    histogram = Histogram()
    histogram.note(-1, 3)

    assert histogram.total == 0


@given(st.lists(st.floats(0, 1e6)), st.lists(st.floats(0, 1e6)))
def test_two_histograms_add_up_to_that_of_all_values(some, others):
    assert added([of(some), of(others)]) == of([*some, *others])


@given(st.lists(st.floats(0, 1e6)))
def test_a_histogram_comes_back_from_its_table_as_it_was(values):
    assert Histogram.parse(of(values).as_json()) == of(values)


def test_cumulative_counts_end_with_all_but_what_is_over_the_last_bound():
    bounds = of([0.01, 3.5, 3.7, 2e6]).cumulative()

    assert bounds[0] == (0.05, 1)
    assert dict(bounds)[4] == 3
    assert bounds[-1] == (BOUNDS[-1], 3)
