"""Tasks for rehearsals: what each would do is in its name."""

import sys
from pathlib import Path

import httpx

from nightshift import task


def opened(page, payload):
    page.goto(payload["url"])
    return page.locator(".price").inner_text()


@task("reads")
def reads(page, payload, job):
    sys.stdout.write("a line that no program wants to read\n")
    price = opened(page, payload)
    return {"price": price, "url": page.url, "scripts": page.locator(".script").count()}


@task("misreads")
def misreads(page, payload, job):
    page.goto(payload["url"])
    return {"price": page.locator(".preis").inner_text()}


@task("orders")
def orders(page, payload, job):
    opened(page, payload)
    job.step("submitting order", irreversible=True)
    Path(payload["file"]).write_text("ordered")


@task("adds")
def adds(page, payload, job):
    opened(page, payload)
    job.enqueue("reads", {"url": "https://example.com/more"})
    job.attach("seen.txt", "seen")
    job.push({"row": 1})


@task("own_requests")
def own_requests(page, payload, job):
    return httpx.get(payload["other"]).text


@task("page_requests")
def page_requests(page, payload, job):
    opened(page, payload)
    return page.request.get(payload["other"]).text()


@task("goes_on")
def goes_on(page, payload, job):
    opened(page, payload)
    page.goto(payload["other"])


@task("has_routes")
def has_routes(page, payload, job):
    page.route("**/*", lambda route: route.continue_())
    return opened(page, payload)


@task("has_a_context")
def has_a_context(page, payload, job):
    context = page.context.browser.new_context()
    return opened(context.new_page(), payload)
