"""The demo site for the examples' tests, fresh for every test."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from examples.demo_site import serve


@pytest.fixture
def shop() -> Iterator[str]:
    """The address of a demo site that nobody has visited yet."""
    with serve() as base_url:
        yield base_url


@pytest.fixture
def visits(shop: str) -> Callable[[], dict[str, Any]]:
    """Ask the site itself how often it was visited."""

    def read() -> dict[str, Any]:
        with urllib.request.urlopen(f"{shop}/__stats") as answer:
            found: dict[str, Any] = json.load(answer)
            return found

    return read
