"""A dashboard over one night for each file of tests; tests that change much make their own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.dashboard_site import Site, made
from worker.browser.options import find_browser


@pytest.fixture(scope="module")
def site(server, tmp_path_factory) -> Iterator[Site]:
    with made(server, tmp_path_factory.mktemp("dashboard")) as found:
        yield found


@pytest.fixture(scope="module")
def guarded_site(server, tmp_path_factory) -> Iterator[Site]:
    """The same, where mara is an operator and vic a viewer."""
    with made(server, tmp_path_factory.mktemp("guarded")) as found:
        found.add_people()
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=find_browser())
        yield found
        found.close()
