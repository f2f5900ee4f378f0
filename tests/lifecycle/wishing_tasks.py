"""Tasks that say how their pages are to look, and tell how they really look."""

from __future__ import annotations

from worker import task

LOOK = """() => ({ language: navigator.language,
    zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    agent: navigator.userAgent.includes('iPhone') ? 'iPhone' : 'desktop' })"""


def tell(page, payload):
    page.goto(payload["url"])
    return {**page.evaluate(LOOK), "pictures": page.evaluate("document.images[0].naturalWidth")}


@task("plain")
def plain(page, payload, job):
    return tell(page, payload)


@task("phone", context={"device": "iPhone 15", "locale": "de-DE"}, block=["image"])
def phone(page, payload, job):
    return tell(page, payload)


@task("sending", context={"extra_http_headers": {"X-Shop": {"secret": "SHOP_TOKEN"}}})
def sending(page, payload, job):
    page.goto(payload["url"])
    raise ValueError(f"the site said {page.locator('#said').inner_text()}")
