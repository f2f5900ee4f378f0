"""The built-in task `pdf`: a page as a PDF file under `results/`.

Example: {"url": "https://example.com/invoice/7", "format": "A4", "name": "invoice-7.pdf"}
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
class PdfPayload:
    """What `pdf` needs."""

    url: str
    name: str = "page.pdf"
    format: str = "A4"
    landscape: bool = False
    background: bool = True


@task("pdf")
def pdf(page: Page, payload: PdfPayload, job: Job) -> dict[str, Any]:
    """Open the page and print it; the result names the file."""
    open_page(page, payload.url, job)
    document = page.pdf(
        format=payload.format, landscape=payload.landscape, print_background=payload.background
    )
    return {"file": job.attach(payload.name, document), "title": page.title(), "url": page.url}
