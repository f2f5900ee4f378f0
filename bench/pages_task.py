"""What both sides do with a page: load it and read its title."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

from bench.pages_site import TITLE
from worker import Job, task


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
