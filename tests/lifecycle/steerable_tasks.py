"""Tasks that a test steers by files beside its own copy: it holds them, lets go, and counts."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

from worker import Fail, Job, Retry, task

HERE = Path(__file__).parent


def note(name: str, job: Job) -> None:
    with (HERE / name).open("ab", buffering=0) as file:
        file.write(f"{job.id} {job.attempt}\n".encode())


def is_let_go(job: Job) -> bool:
    return (HERE / "go").exists() or (HERE / f"go-{job.id}").exists()


@task("noop", browser=False)
def noop(page, payload, job):
    note("finished", job)
    return {"attempt": job.attempt}


@task("held", browser=False)
def held(page, payload, job):
    note("begun", job)
    while not is_let_go(job):
        time.sleep(0.01)
    note("finished", job)


@task("held_page")
def held_page(page, payload, job):
    page.set_content("<title>still here</title>")
    note("begun", job)
    while not is_let_go(job):
        page.wait_for_timeout(20)
    note("finished", job)
    return {"title": page.title()}


@task("held_failure")
def held_failure(page, payload, job):
    held_page(page, payload, job)
    raise Fail("as the test wanted it")


@task("shielded", browser=False)
def shielded(page, payload, job):
    """Comes back for nobody."""
    note("begun", job)
    while True:
        time.sleep(1)


@task("retried", browser=False)
def retried(page, payload, job):
    if job.attempt < payload["succeeds_at"]:
        raise Retry("not yet", after=payload["after"])
    note("finished", job)


@task("deadly", browser=False)
def deadly(page, payload, job):
    note("begun", job)
    os.kill(os.getpid(), signal.SIGKILL)


@task("leaving", browser=False)
def leaving(page, payload, job):
    sys.exit("enough of this")


@task("unspeakable", browser=False)
def unspeakable(page, payload, job):
    return {"value": object()}


@task("huge", browser=False)
def huge(page, payload, job):
    return "x" * 2_000_000


@task("chatty", browser=False)
def chatty(page, payload, job):
    job.log.info("hello from the task")
    job.log.warning("something is odd")
