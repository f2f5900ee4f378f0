"""Few texts and many are replaced alike: short ones as words, long ones everywhere."""

from __future__ import annotations

import pytest

from worker.evidence.value_search import MANY, ValueSearch


@pytest.mark.parametrize("others", [0, 2 * MANY])
def test_few_and_many_are_replaced_alike(others):
    padding = [f"{number:04}" for number in range(others)]
    padding += [f"{number:06}-x" for number in range(others)]
    search = ValueSearch(["white-horse", "white-horse-2", "stal", *padding])

    text = "a white-horse-2, xwhite-horsex, stal, stall %20stal"
    assert search.replace(text, "*") == "a *, x*x, *, stall %20*"
    assert search.replace("", "*") == ""
