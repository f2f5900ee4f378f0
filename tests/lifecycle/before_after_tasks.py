"""Tasks of a shop whose page changes."""

from __future__ import annotations

from worker import Fail, task


@task("price", max_attempts=1)
def price(page, payload, job):
    page.goto(payload["url"])
    return {"price": page.locator(".price").inner_text(timeout=1000)}


@task("gives_up", max_attempts=1)
def gives_up(page, payload, job):
    page.goto(payload["url"])
    raise Fail("as the test wanted it")


@task("busy")
def busy(page, payload, job):
    """Is done while its page will never answer again."""
    page.goto(payload["url"])
    page.evaluate("setTimeout(() => { while (true); }, 0)")
    return {}
