"""Load a page, and write down when that was done."""

from __future__ import annotations

import os
import time
from typing import Any

from playwright.sync_api import Page

from bench.pages_task import load
from worker import Job, task

VARIABLE = "BENCH_FIRST_PAGES"


@task("first_page")
def first_page(page: Page, payload: dict[str, Any], job: Job) -> None:
    """Load it; each line is one append, so that lines never mix."""
    load(page, payload["url"])
    file = os.open(os.environ[VARIABLE], os.O_WRONLY | os.O_APPEND)
    os.write(file, f"{time.monotonic()}\n".encode())
    os.close(file)
