"""Opening a page: a good URL, and an answer that is worth going on with; for authors too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from worker.errors import Fail, PayloadError, SiteFailed
from worker.retry_after import retry_after_seconds
from worker.tasks.job import Job

if TYPE_CHECKING:
    from worker.page_types import Page

# Statuses that may well be different next time.
PASSING_STATUSES = {408, 425, 429, 500, 502, 503, 504}
SCHEMES = ("http://", "https://", "about:", "data:")


def open_page(page: Page, url: str, job: Job) -> int | None:
    """Go to a URL and return its status; a refusing or failing server ends the attempt.

    408, 425, 429 and temporary 5xx are tried again, after the site's Retry-After if it sends one;
    any other status from 400 on ends the job as an error.
    """
    if not url.strip().lower().startswith(SCHEMES):
        raise PayloadError(f"payload.url: {url!r} is not one to visit; write http://… or https://…")
    response = page.goto(url.strip())
    status = response.status if response is not None else None
    job.step(f"opened, HTTP {status}")
    if status in PASSING_STATUSES:
        assert response is not None
        after = retry_after_seconds(response.headers.get("retry-after", ""))
        raise SiteFailed(f"HTTP {status} from {page.url}", after=after)
    if status is not None and status >= 400:
        raise Fail(f"HTTP {status} from {page.url}")
    return status
