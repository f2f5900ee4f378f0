"""Tests of the product scraper's task, in a real browser."""

from __future__ import annotations

import pytest

from examples.product_scraper.products import product
from nightshift import Fail, Retry

pytest_plugins = ["nightshift.testing"]


def test_name_price_and_stock_are_read(run_task, shop):
    result = run_task(product, {"sku": "A-1", "url": f"{shop}/products/1"})

    assert (result["sku"], result["name"], result["price"]) == ("A-1", "Harbour Lantern", 49.9)
    assert isinstance(result["stock"], int)


def test_a_product_that_is_gone_is_given_up(run_task, shop):
    with pytest.raises(Fail, match="A-4 is no longer sold"):
        run_task(product, {"sku": "A-4", "url": f"{shop}/products/999"})


def test_a_shop_in_trouble_is_asked_again_later(run_task, shop):
    with pytest.raises(Retry, match="HTTP 500"):
        run_task(product, {"sku": "A-5", "url": f"{shop}/fail/500"})
