"""Tasks of an account: they log in, find out who they are, and are held until a test lets go."""

from __future__ import annotations

from pathlib import Path

from worker import task

HERE = Path(__file__).parent


@task("log_in")
def log_in(page, payload, job):
    page.goto(payload["url"] + "/login")
    return {"title": page.title()}


@task("who_am_i")
def who_am_i(page, payload, job):
    page.goto(payload["url"])
    return {"title": page.title()}


@task("held_there", timeout=60)
def held_there(page, payload, job):
    page.goto(payload["url"])
    job.step(payload["step"])
    (HERE / f"begun-{job.id}-{job.attempt}").touch()
    while not (HERE / "go").exists():
        page.wait_for_timeout(20)
    return {"title": page.title()}


@task("breaking_off", browser=False)
def breaking_off(page, payload, job):
    job.step("submitting order")
    raise ValueError("a bug in the middle of it")
