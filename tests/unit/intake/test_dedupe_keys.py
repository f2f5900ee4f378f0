"""Dedupe keys of any length fit their column, and stay as different as they were."""

from __future__ import annotations

import pytest

from worker.intake.added_jobs import row
from worker.intake.dedupe_keys import MAX_DEDUPE_KEY, fitting

LONG = "https://shop.example/" + "x" * 3_000


@pytest.mark.parametrize("key", ["", "sku-7", "x" * MAX_DEDUPE_KEY, "ü" * MAX_DEDUPE_KEY])
def test_a_key_that_fits_is_kept_as_it_is(key):
    assert fitting(key) == key


def test_a_long_key_has_its_beginning_and_a_hash_of_the_rest():
    # The very text, because other hosts and versions must come to the same.
    assert fitting("x" * 192) == "x" * 150 + "~2b2573d5ea0b352e24bebd015f3fe83693a5b81a"
    assert len(fitting(LONG)) == MAX_DEDUPE_KEY


@pytest.mark.parametrize("other", [LONG + "y", LONG[:-1], "http" + LONG[5:], LONG + " "])
def test_different_long_keys_stay_different(other):
    assert fitting(other) != fitting(LONG)


def test_half_a_character_is_no_trouble():
    assert len(fitting(LONG + "\ud800")) == MAX_DEDUPE_KEY


def test_a_task_may_take_a_long_url_as_its_key():
    made = row("page", {"url": LONG}, dedupe_key=LONG)

    assert made["dedupe_key"] == fitting(LONG)
