"""A dashboard over a night in which every stranger wrote an attack, and a browser to see it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.dashboard_site import Site, made, served
from worker.browser.options import find_browser

# Wherever one of these is not escaped, it runs, or breaks out of its attribute.
WORDS = (
    "<script>window.hacked=1</script><img src=x onerror=window.hacked=1>"
    "\"'><svg onload=window.hacked=1>{{7*7}}</textarea><a href=javascript:hacked=1>x</a>"
)


@pytest.fixture(scope="module")
def hostile_site(server, tmp_path_factory) -> Iterator[Site]:
    with made(server, tmp_path_factory.mktemp("hostile"), WORDS) as site, served(site):
        yield site


@pytest.fixture(scope="module")
def guarded_site(server, tmp_path_factory) -> Iterator[Site]:
    """A site where mara is an operator and vic a viewer, served."""
    with made(server, tmp_path_factory.mktemp("guarded")) as site, served(site):
        site.add_people()
        yield site


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=find_browser())
        yield found
        found.close()
