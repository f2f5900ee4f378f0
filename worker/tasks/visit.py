"""The built-in task `visit`: open a page and report where it led, so that a bare URL is a job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from worker.errors import Fail, PayloadError, Retry
from worker.tasks.job import Job
from worker.tasks.registry import task

if TYPE_CHECKING:
    from playwright.sync_api import Page

# Statuses that may well be different next time.
PASSING_STATUSES = {408, 425, 429, 500, 502, 503, 504}


@task("visit")
def visit(page: Page, payload: dict[str, Any], job: Job) -> dict[str, Any]:
    """Open `payload["url"]`; the result is the status, the title and the final URL."""
    url = payload.get("url")
    if not isinstance(url, str) or not url.strip():
        raise PayloadError('the payload of visit needs "url": a text such as "https://example.com"')
    if not url.startswith(("http://", "https://", "about:", "data:")):
        raise PayloadError(f"url {url!r} is not one to visit; write http://… or https://…")
    response = page.goto(url)
    status = response.status if response is not None else None
    job.step(f"opened, HTTP {status}")
    if status in PASSING_STATUSES:
        raise Retry(f"HTTP {status} from {page.url}")
    if status is not None and status >= 400:
        raise Fail(f"HTTP {status} from {page.url}")
    return {"status": status, "title": page.title(), "url": page.url}
