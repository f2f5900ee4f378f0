"""What both sides do with a page: load it and read its title."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import BrowserType, Page

from bench.pages_site import TITLE
from worker import Job, task

# Noted by a job, so that the raw side can have a browser of its own from the same driver.
browser_types: list[BrowserType] = []


def load(page: Page, url: str) -> str:
    """Load a page and read its title; raises when it is not the page that was meant."""
    page.goto(url)
    title = page.title()
    if title != TITLE:
        raise RuntimeError(f"the page is titled {title!r}, not {TITLE!r}")
    return title


@task("load_context")
def load_context(page: Page, payload: dict[str, Any], job: Job) -> str:
    """Load it in a context of the job's own."""
    return load(page, payload["url"])


@task("load_page", isolation="page")
def load_page(page: Page, payload: dict[str, Any], job: Job) -> str:
    """Load it in a page that is used again."""
    return load(page, payload["url"])


@task("note_browser")
def note_browser(page: Page, payload: dict[str, Any], job: Job) -> None:
    """Make the driver known."""
    assert page.context.browser is not None
    browser_types.append(page.context.browser.browser_type)
