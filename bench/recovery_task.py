"""A job that says when it begins and who does it, and stays in its first attempt if it is to."""

from __future__ import annotations

import os
import time
from typing import Any

from playwright.sync_api import Page

from worker import Job, task

VARIABLE = "BENCH_RECOVERY"
STAYS_SECONDS = 60.0


@task("stay")
def stay(page: Page, payload: dict[str, Any], job: Job) -> None:
    """Write one line, an append; then stay until the worker is killed, or end."""
    file = os.open(os.environ[VARIABLE], os.O_WRONLY | os.O_APPEND)
    os.write(file, f"{job.id} {job.attempt} {os.getpid()} {time.monotonic()}\n".encode())
    os.close(file)
    if payload["stays"] and job.attempt == 1:
        page.wait_for_timeout(1000 * STAYS_SECONDS)
