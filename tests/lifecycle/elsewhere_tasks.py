"""Tasks for browsers elsewhere: they say by which process and when they were finished."""

from __future__ import annotations

import os
import time
from pathlib import Path

from worker import task

HERE = Path(__file__).parent


def note(name: str, *words: object) -> None:
    with (HERE / name).open("ab", buffering=0) as file:
        file.write(f"{' '.join(map(str, words))}\n".encode())


@task("timed_page")
def timed_page(page, payload, job):
    page.set_content("<title>elsewhere</title>")
    note("begun", job.id)
    began = time.monotonic()
    page.wait_for_timeout(100 if (HERE / "short").exists() else payload.get("ms", 100))
    title = page.title()
    note("timed", job.id, job.attempt, os.getpid(), began, time.monotonic())
    return {"title": title}


@task("suicidal_page")
def suicidal_page(page, payload, job):
    """Ends its whole browser, wherever that is."""
    note("suicides", job.id, job.attempt)
    page.context.browser.new_browser_cdp_session().send("Browser.close")
    # It answers before it ends.
    page.wait_for_timeout(20_000)


@task("hanging_page", timeout=2)
def hanging_page(page, payload, job):
    note("hangs", job.id, job.attempt)
    page.evaluate("while (true);")
