"""Which results hold nothing."""

from __future__ import annotations

import pytest

from worker.reporting.night.doubts import is_empty


@pytest.mark.parametrize(
    "value", [None, "", "  ", {}, [], {"a": None}, {"a": [], "b": {"c": ""}}, [None, ""]]
)
def test_these_hold_nothing(value):
    assert is_empty(value)


@pytest.mark.parametrize("value", [0, False, "x", {"a": 0}, [1], {"a": {"b": [False]}}])
def test_a_number_a_flag_and_a_word_are_something(value):
    assert not is_empty(value)


def test_what_is_nested_without_end_is_something():
    value = []
    for _ in range(500):
        value = [value]

    assert not is_empty(value)
