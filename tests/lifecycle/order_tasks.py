"""Tasks that order something: what they order is noted outside the queue, at the moment it is."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

from playwright.sync_api import Error

from worker import Blocked, Fail, Job, Retry, task

HERE = Path(__file__).parent
STEP = "placing order"


def note(name: str, job: Job) -> None:
    with (HERE / name).open("ab", buffering=0) as file:
        file.write(f"{job.id} {job.attempt}\n".encode())


def wait_for(name: str) -> None:
    while not (HERE / name).exists():
        time.sleep(0.01)


def give_up(error: Exception) -> None:
    raise error


def crash(page) -> None:
    with suppress(Error):
        page.goto("chrome://crash")
    page.evaluate("document.title")


ENDINGS = {
    "held": lambda page: wait_for("go"),
    "sleeps": lambda page: time.sleep(60),
    "hangs": lambda page: page.evaluate("() => { for (;;) {} }"),
    "retry": lambda page: give_up(Retry("try me again", after=0)),
    "fail": lambda page: give_up(Fail("declined")),
    "blocked": lambda page: give_up(Blocked("a captcha", after=0)),
    "bug": lambda page: give_up(KeyError("price")),
    "dies": lambda page: os.kill(os.getpid(), 9),
    "leaves": lambda page: os._exit(0),
    "crashes": crash,
    "unspeakable": lambda page: object(),
    "too large": lambda page: "x" * 1_100_000,
    "returns": lambda page: {"number": 1},
}


@task("order", browser=False)
def order(page, payload, job):
    job.step("logged in")
    if payload.get("first"):
        wait_for(payload["first"])
    job.step(STEP, irreversible=True)
    note("ordered", job)
    if payload["then"] == "after_now":
        wait_for("now")
        return ENDINGS[payload["how"]](page)
    return ENDINGS[payload["then"]](page)


@task("order_in_a_page", schemes=("chrome",))
def order_in_a_page(page, payload, job):
    return order(page, payload, job)


@task("ordered_well", browser=False)
def ordered_well(page, payload, job):
    """Leaves its irreversible step behind, and breaks off once after that."""
    if job.attempt == 1:
        job.step(STEP, irreversible=True)
        note("ordered", job)
        job.step("order confirmed")
        ENDINGS[payload["then"]](page)


@task("orders_and_breaks_off", browser=False)
def orders_and_breaks_off(page, payload, job):
    """Orders, leaves its irreversible step behind, and breaks off after that, in every attempt."""
    for _ in range(payload.get("orders", 1)):
        job.step(STEP, irreversible=True)
        note("ordered", job)
        job.step("declined" if payload.get("undone") else "order sent", undone="undone" in payload)
    return ENDINGS[payload["then"] if job.attempt < 3 else "returns"](page)


@task("goes_on_all_the_same", browser=False)
def goes_on_all_the_same(page, payload, job):
    """Does not care whether its step could be kept."""
    wait_for("go")
    with suppress(Exception):
        job.step(STEP, irreversible=True)
    note("ordered", job)
    raise Retry("once more", after=0)


@task("guessed", browser=False)
def guessed(page, payload, job):
    job.step("submitting order")
    note("ordered", job)
    ENDINGS[payload["then"]](page)


@task("not_guessed", browser=False, guess_half_done=False)
def not_guessed(page, payload, job):
    guessed(page, payload, job)
