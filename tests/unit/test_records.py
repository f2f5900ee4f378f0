"""Values that are quick to make, and equal and hashable as frozen ones are."""

from __future__ import annotations

import dataclasses

from worker.models import Partition
from worker.records import record


def test_equal_values_are_equal_and_can_be_keys():
    assert Partition(1, 6) == Partition(1, 6)
    assert {Partition(1, 6), Partition(1, 6)} == {Partition(1, 6)}


def test_a_value_is_replaced_not_changed():
    assert dataclasses.replace(Partition(1, 6), slot=2) == Partition(2, 6)


def test_one_that_is_not_frozen_is_no_key():
    @record
    class Open:
        value: int = 0

    assert Open.__hash__ is None
