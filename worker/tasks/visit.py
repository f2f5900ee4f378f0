"""The built-in task `visit`: open a page and report where it led, so that a bare URL is a job.

Example: {"url": "https://example.com"} → {"status": 200, "title": "Example", "url": "https://…"}
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from worker.errors import PayloadError
from worker.tasks.job import Job
from worker.tasks.opening import open_page
from worker.tasks.registry import task

if TYPE_CHECKING:
    from worker.page_types import Page


@task("visit")
def visit(page: Page, payload: dict[str, Any], job: Job) -> dict[str, Any]:
    """Open `payload["url"]`; the result is the status, the title and the final URL."""
    url = payload.get("url")
    if not isinstance(url, str) or not url.strip():
        raise PayloadError('the payload of visit needs "url": a text such as "https://example.com"')
    status = open_page(page, url, job)
    return {"status": status, "title": page.title(), "url": page.url}
