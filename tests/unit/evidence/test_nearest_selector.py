"""What a lost selector may be called now is guessed by names, always in the same way."""

from __future__ import annotations

import time

import pytest

from worker.evidence.nearest_selector import MAX_NAME, MAX_NAMES, names_in, nearest


@pytest.mark.parametrize(
    ("selector", "now", "found"),
    [
        (".price", [".header", ".product-price", ".footer"], ".product-price"),
        (".price", [".prices"], ".prices"),
        (".productPrice", [".product-price"], ".product-price"),
        ("#add-to-cart", ["#search", "#add-to-basket"], "#add-to-basket"),
        ("#price", [".price"], ".price"),
        ('[data-testid="price"]', ['[itemprop="price"]'], '[itemprop="price"]'),
        ("main .row > .price", ["main", ".row", ".price-now"], ".price-now"),
        # Three of five letters are not enough, and nothing is like nothing.
        (".price", [".slice", ".header"], None),
        (".price", [], None),
        # All of it is still there: then it is something else.
        (".row .price", [".row", ".price"], None),
        ("h1", [".h2"], None),
    ],
)
def test_the_most_similar_name_is_found(selector, now, found):
    assert nearest(selector, dict.fromkeys(now, 1)) == found


def test_what_is_new_on_the_page_counts_more():
    now = {".old-price": 1, ".product-price": 1}

    assert nearest(".price", now, then=[".price", ".old-price"]) == ".product-price"


def test_what_was_there_and_is_gone_is_what_was_meant():
    now = {".shop-price": 1, ".rows": 1}

    # `.never` was on neither page.
    assert nearest(".price .never", now, then=[".price"]) == ".shop-price"


def test_equal_names_go_by_how_few_there_are_then_by_place():
    assert nearest(".price", {".a-price": 9, ".b-price": 1}) == ".b-price"
    assert nearest(".price", {".b-price": 1, ".a-price": 1}) == ".b-price"


def test_names_are_read_off_a_selector():
    selector = 'ul#list > li.row.is-open a[name="q"] [data-qa=buy]'

    assert names_in(selector) == ["#list", ".row", ".is-open", '[name="q"]', '[data-qa="buy"]']


def test_a_hostile_page_full_of_similar_names_takes_no_time():
    names = {"." + "ab" * (MAX_NAME // 2 - 5) + str(n): 1 for n in range(10 * MAX_NAMES)}
    began = time.monotonic()
    nearest("." + "ab" * 150, names)
    nearest(".a" * 20_000, names)

    assert time.monotonic() - began < 3.0
