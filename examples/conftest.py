"""The demo site for the examples' tests, fresh for every test."""

from __future__ import annotations

import json
import os
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from examples.demo_site import serve
from worker.browser.browser_choice import BrowserChoice
from worker.execution.rehearsal import Rehearsal, rehearse


@pytest.fixture(scope="module")
def nightshift_browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rehearsal]:
    """One browser for the tests of a file, not of the session: other tests here have their own."""
    results = tmp_path_factory.mktemp("results")
    browser = BrowserChoice(browser=os.environ.get("NIGHTSHIFT_BROWSER"))
    with rehearse(results, browser) as rehearsal:
        yield rehearsal


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
