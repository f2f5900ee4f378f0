"""The tasks of the drill's jobs: each notes its start and its end outside the queue.

A line is one write to a file opened for appending, so that neither a kill nor a neighbour tears it.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from worker import Fail, Job, Retry, task
from worker.system.identity import start_ticks

LEDGER_VARIABLE = "NIGHTSHIFT_DRILL_LEDGER"
QUICK, PAGE, FAILING, RETRIED = "drill_quick", "drill_page", "drill_failing", "drill_retried"
CHATTY = "drill_chatty"
# More than any pipe holds.
CHATTER = "the quick brown fox jumps over the lazy dog, and says so at length to whoever reads it\n"
CHATTER_BYTES = 300_000


@task(QUICK, browser=False)
def quick(_page: Any, payload: dict[str, Any], job: Job) -> None:
    """Do nothing for a moment."""
    with _noted(job):
        time.sleep(payload["seconds"])


@task(PAGE)
def page(page: Any, payload: dict[str, Any], job: Job) -> dict[str, str]:
    """Open a page of the demo site."""
    with _noted(job):
        page.goto(payload["url"])
        return {"title": page.title()}


@task(FAILING, browser=False)
def failing(_page: Any, _payload: dict[str, Any], job: Job) -> None:
    """Fail for good, at every attempt."""
    with _noted(job):
        raise Fail("as the drill wanted it")


@task(RETRIED, browser=False)
def retried(_page: Any, _payload: dict[str, Any], job: Job) -> None:
    """Ask for a retry at the first attempt."""
    with _noted(job):
        if job.attempt == 1:
            raise Retry("as the drill wanted it", after=0.2)


@task(CHATTY, browser=False)
def chatty(_page: Any, _payload: dict[str, Any], job: Job) -> None:
    """Write 300 KB to stdout and to stderr."""
    with _noted(job):
        for _ in range(CHATTER_BYTES // len(CHATTER)):
            sys.stdout.write(CHATTER)
            sys.stderr.write(CHATTER)


@contextmanager
def _noted(job: Job) -> Iterator[None]:
    _note("start", job)
    how = "raised"
    try:
        yield
        how = "ok"
    finally:
        _note(how, job)


def _note(event: str, job: Job) -> None:
    pid = os.getpid()
    line = (
        f"{event} {job.id} {job.attempt} {pid} {start_ticks(pid)} "
        f"{time.monotonic():.6f} {time.time():.6f}\n"
    )
    file = os.open(os.environ[LEDGER_VARIABLE], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(file, line.encode("ascii"))
    finally:
        os.close(file)
