"""The built-in task `screenshot`: a picture of a page, or of one element, under `results/`.

Example: {"url": "https://example.com", "full_page": true, "name": "front.png"}
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from worker.tasks.job import Job
from worker.tasks.opening import open_page
from worker.tasks.registry import task

if TYPE_CHECKING:
    from worker.page_types import Page


@dataclass(frozen=True)
class ScreenshotPayload:
    """What `screenshot` needs."""

    url: str
    name: str = "screenshot.png"
    full_page: bool = False
    selector: str | None = None
    wait_for: str | None = None


@task("screenshot")
def screenshot(page: Page, payload: ScreenshotPayload, job: Job) -> dict[str, Any]:
    """Open the page and keep a picture of it; the result names the file."""
    open_page(page, payload.url, job)
    if payload.wait_for is not None:
        page.locator(payload.wait_for).first.wait_for()
    if payload.selector is not None:
        image = page.locator(payload.selector).first.screenshot()
    else:
        image = page.screenshot(full_page=payload.full_page)
    return {"file": job.attach(payload.name, image), "title": page.title(), "url": page.url}
