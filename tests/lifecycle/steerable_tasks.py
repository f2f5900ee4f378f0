"""Tasks that a test steers by files beside its own copy: it holds them, lets go, and counts."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from playwright.sync_api import Error, expect

from worker import Fail, Job, Retry, task
from worker.system.process_tree import find_browsers, find_driver

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
    """Shows until when it lived by the time of a file."""
    page.set_content("<title>still here</title>")
    note("begun", job)
    while not is_let_go(job):
        (HERE / f"alive-{job.id}").touch()
        page.wait_for_timeout(20)
    note("finished", job)
    return {"title": page.title()}


@task("held_failure")
def held_failure(page, payload, job):
    job.step("at the door")
    held_page(page, payload, job)
    raise Fail("as the test wanted it")


@task("shielded", browser=False)
def shielded(page, payload, job):
    """Comes back for nobody."""
    job.step("at the door")
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


@task("dying", browser=False)
def dying(page, payload, job):
    if job.attempt > payload.get("times", job.attempt):
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if "signal" in payload:
        os.kill(os.getpid(), signal.Signals[payload["signal"]])
    os._exit(payload["code"])


@task("devoured", browser=False)
def devoured(page, payload, job):
    """Dies as if of hunger: the kernel counts it, and sends SIGKILL."""
    (HERE / "vmstat").write_text("oom_kill 5\n", encoding="ascii")
    os.kill(os.getpid(), signal.SIGKILL)


@task("crashing", schemes="chrome")
def crashing(page, payload, job):
    note("begun", job)
    with suppress(Error):
        page.goto("chrome://crash")
    page.evaluate("document.title")


@task("expecting")
def expecting(page, payload, job):
    """Waits at its first attempt for what does not come; an assertion says nothing of a crash."""
    page.goto(payload["url"])
    note("begun", job)
    if job.attempt == 1:
        expect(page.locator("#never")).to_be_visible(timeout=20_000)


@task("napping", browser=False)
def napping(page, payload, job):
    note("begun", job)
    time.sleep(payload["seconds"])
    note("finished", job)


@task("napping_page")
def napping_page(page, payload, job):
    napping(page, payload, job)


@task("patient", browser=False, timeout=60)
def patient(page, payload, job):
    napping(page, payload, job)


@task("in_c_code", browser=False)
def in_c_code(page, payload, job):
    """Waits for ever in a call that never lets go of the interpreter, and that signals resume."""
    reader, _ = os.pipe()
    note("begun", job)
    ctypes.PyDLL(None).read(reader, ctypes.create_string_buffer(1), 1)


@task("standing", browser=False)
def standing(page, payload, job):
    note("begun", job)
    os.kill(os.getpid(), signal.SIGSTOP)


@task("which_browser")
def which_browser(page, payload, job):
    page.set_content("<title>mine</title>")
    driver = find_driver(os.getpid())
    assert driver is not None
    with (HERE / "browsers").open("ab", buffering=0) as file:
        file.write(f"{job.id} {find_browsers(driver)[-1].pid}\n".encode())


@task("orphaning", browser=False)
def orphaning(page, payload, job):
    """Leaves behind a process whose parent is gone."""
    command = ["sh", "-c", "sleep 60 >&2 & echo $!"]
    started = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    with (HERE / "orphans").open("ab", buffering=0) as file:
        file.write(f"{job.id} {int(started.stdout)}\n".encode())
    held(page, payload, job)


@task("starving", browser=False)
def starving(page, payload, job):
    """Fails where no file can grow any more, as on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
    raise Fail("as the test wanted it")


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


@task("prints_much")
def prints_much(page, payload, job):
    """Prints more than a pipe holds, at once."""
    sys.stdout.write("a long story\n" * 25_000)
    sys.stdout.flush()
    note("finished", job)


@task("chatters", browser=False)
def chatters(page, payload, job):
    """Prints as fast as it is read, until it is let go."""
    note("begun", job)
    line = b"chatter " * 100 + b"\n"
    while not is_let_go(job):
        os.write(1, line * 20)
    note("finished", job)


@task("speaks_and_dies", browser=False)
def speaks_and_dies(page, payload, job):
    """Dies with 100 long lines of Cyrillic as its last words."""
    note("begun", job)
    if job.attempt > 1:
        return
    sys.stdout.write(("ж" * 1500 + "\n") * 100)
    sys.stdout.flush()
    os.kill(os.getpid(), signal.SIGKILL)


@task("crawl", browser=False)
def crawl(page, payload, job):
    """Adds two jobs below itself, down to a depth; every page is linked from several."""
    note("finished", job)
    job.push({"page": payload["page"], "depth": job.depth})
    job.push({"page": payload["page"], "depth": -job.depth})
    if job.depth >= payload["depth"]:
        return
    if payload.get("keyless"):
        numbers = (2 * payload["page"], 2 * payload["page"] + 1)
        job.enqueue_many({**payload, "page": number} for number in numbers)
    else:
        for page_number in (2 * payload["page"], 2 * payload["page"] + 1, 1):
            job.enqueue(
                "crawl",
                {**payload, "page": page_number},
                dedupe_key=f"page {page_number}",
                depth=job.depth + 1,
            )
