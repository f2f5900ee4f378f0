"""Pairs of functions: one leaves something in its browser, the other looks whether it is there.

As tasks they are registered once for each isolation: `basic_auth_leaves_page` and
`basic_auth_finds_page`. What the second finds is empty when jobs are apart.
"""

from __future__ import annotations

import time

from playwright.sync_api import Error as PlaywrightError

from tests.attacks import browser_wide_leavings
from worker import Blocked, Fail, task

LATE_SECONDS = 0.4


def basic_auth_leaves(page, url):
    page.goto(url.replace("//", "//ann:secret@") + "/private")
    assert page.title() == "private"


def basic_auth_finds(page, url):
    status = page.goto(url + "/private").status
    return [] if status == 401 else [status, page.title()]


def scripted_auth_leaves(page, url):
    page.goto(url + "/")
    status = page.evaluate("""() => { const request = new XMLHttpRequest();
        request.open('GET', '/private', false, 'ann', 'secret'); request.send();
        return request.status }""")
    assert status == 200


scripted_auth_finds = basic_auth_finds


def cached_page_leaves(page, url):
    page.goto(url + "/cached")


def cached_page_finds(page, url):
    # This way goes past the browser's cache: the page itself must be the server's next copy.
    number = int(page.request.get(url + "/cached").text().split("copy ")[1].split("<")[0])
    page.goto(url + "/cached")
    return [] if page.title() == f"copy {number + 1}" else [page.title()]


def etag_leaves(page, url):
    page.goto(url + "/tagged")


def etag_finds(page, url):
    page.goto(url + "/tagged")
    return [] if page.title() == "came with none" else [page.title()]


def late_cookie_leaves(page, url):
    page.goto(url + "/keepalive")
    # The server has the request and will answer when the other job has come.
    assert page.request.get(url + "/until-asked").text() == "True"


def late_cookie_finds(page, url):
    page.goto(url + "/let-late-go")
    deadline = time.monotonic() + LATE_SECONDS
    while time.monotonic() < deadline:
        if cookies := page.context.cookies():
            return cookies
        page.wait_for_timeout(20)
    return []


def late_last_words_leaves(page, url):
    page.goto(url + "/late-last-words")


late_last_words_finds = late_cookie_finds


def last_words_leaves(page, url):
    page.goto(url + "/last-words")


def last_words_finds(page, url):
    page.goto(url + "/")
    page.wait_for_timeout(LATE_SECONDS * 1000)
    return page.context.cookies() + page.evaluate("Object.keys(localStorage)")


def restless_page_leaves(page, url):
    page.goto(url + "/restless")
    page.wait_for_timeout(30)


restless_page_finds = last_words_finds


def window_name_leaves(page, url):
    page.goto(url + "/")
    page.evaluate("window.name = 'of A'")


def window_name_finds(page, url):
    before = page.evaluate("window.name")
    page.goto(url + "/")
    return [name for name in (before, page.evaluate("window.name")) if name]


def history_leaves(page, url):
    page.goto(url + "/one")
    page.goto(url + "/two")


def history_finds(page, url):
    page.goto(url + "/")
    page.goto(url + "/?again")
    seen = []
    for _ in range(3):
        try:
            page.go_back()
        except PlaywrightError:
            break
        seen.append(page.url)
    page.evaluate("history.go(-2)")
    page.wait_for_timeout(50)
    seen.append(page.url)
    return [each for each in seen if each.endswith(("/one", "/two"))]


def passkey_leaves(page, url):
    page.context.credentials.install()
    page.context.credentials.create(rp_id="localhost")
    assert page.context.credentials.get()


def passkey_finds(page, url):
    try:
        return page.context.credentials.get()
    except PlaywrightError:
        return []


def devtools_passkey_leaves(page, url):
    page.goto(url + "/")
    devtools = page.context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    options = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True,
               "hasUserVerification": True, "isUserVerified": True,
               "automaticPresenceSimulation": True}  # fmt: skip
    devtools.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    assert _makes_passkey(page)


def devtools_passkey_finds(page, url):
    page.goto(url + "/")
    return ["a passkey can be made"] if _makes_passkey(page) else []


def _makes_passkey(page):
    return page.evaluate("""() => Promise.race([
        new Promise(over => setTimeout(() => over(false), 300)),
        navigator.credentials.create({publicKey: {challenge: new Uint8Array(16),
            rp: {id: 'localhost', name: 'x'}, timeout: 300,
            user: {id: new Uint8Array(4), name: 'a', displayName: 'a'},
            pubKeyCredParams: [{type: 'public-key', alg: -7}]}}).then(() => true, () => false)])""")


def pressed_keys_leaves(page, url):
    page.goto(url + "/typing")
    page.keyboard.down("Shift")


def pressed_keys_finds(page, url):
    page.goto(url + "/typing")
    page.keyboard.press("KeyA")
    value = page.locator("input").input_value()
    return [] if value == "a" else [value]


def pressed_button_leaves(page, url):
    page.goto(url + "/mouse")
    page.mouse.move(50, 50)
    page.mouse.down(button="right")
    page.mouse.down()


def pressed_button_finds(page, url):
    page.goto(url + "/mouse")
    page.mouse.move(60, 60)
    page.mouse.move(70, 70)
    page.wait_for_function("document.title != 'M'")
    return [] if page.title() == "buttons 0" else [page.title()]


def requests_leaves(page, url):
    page.goto(url + "/one")


def requests_finds(page, url):
    before = [request.url for request in page.requests()]
    page.goto(url + "/two")
    return before + [each.url for each in page.requests() if not each.url.endswith("/two")]


def console_leaves(page, url):
    page.goto(url + "/noisy")
    assert page.console_messages()


def console_finds(page, url):
    said = [message.text for message in page.console_messages()]
    return said + [str(error) for error in page.page_errors()]


def document_leaves(page, url):
    page.goto(url + "/one?private")
    page.evaluate("window.left = 'of A'")


def document_finds(page, url):
    found = [page.url, page.title(), page.evaluate("window.left || ''")]
    return [each for each in found if each not in ("", "about:blank")]


def storage_leaves(page, url):
    page.goto(url + "/storing")
    page.wait_for_function("document.title == 'stored'")


def storage_finds(page, url):
    page.goto(url + "/")
    return page.context.cookies() + page.evaluate("""async () => [
        ...Object.keys(localStorage), ...Object.keys(sessionStorage), ...await caches.keys(),
        ...(await indexedDB.databases()).map(each => each.name)]""")


def service_worker_leaves(page, url):
    page.goto(url + "/worker")
    page.wait_for_function("document.title == 'registered'")


def service_worker_finds(page, url):
    page.goto(url + "/")
    return page.evaluate("""async () => (await navigator.serviceWorker.getRegistrations())
        .map(each => each.scope)""")


def own_context_leaves(page, url):
    page.goto(url + "/")
    other = page.context.browser.new_context().new_page()
    other.goto(url + "/one?private")


def own_context_finds(page, url):
    page.goto(url + "/")
    pages = [each for context in page.context.browser.contexts for each in context.pages]
    return [each.url for each in pages if each.url.endswith("private")]


PAIRS = {**vars(browser_wide_leavings), **globals()}
ATTACKS = sorted(name.removesuffix("_leaves") for name in PAIRS if name.endswith("_leaves"))


@task("portal", isolation="worker")
def portal(page, payload, job):
    """Log in unless that was done; the log-in is in the tab's own storage, as many sites do it."""
    page.goto(payload["url"] + "/")
    was_in = page.evaluate("sessionStorage.token || ''") == "of A"
    page.evaluate("sessionStorage.token = 'of A'")
    if payload["then"] == "fail":
        raise Fail("this one")
    if payload["then"] == "block":
        raise Blocked("captcha", after=3600)
    return "was in" if was_in else "logged in"


@task("other_portal", isolation="worker")
def other_portal(page, payload, job):
    """The same for another task, which must not have the log-in."""
    return portal(page, payload, job)


def _register() -> None:
    for name in ATTACKS:
        for part in ("leaves", "finds"):
            for isolation in ("context", "page", "worker"):
                full_name = f"{name}_{part}_{isolation}"
                run = _with_url(PAIRS[f"{name}_{part}"])
                globals()[full_name] = task(full_name, isolation=isolation)(run)


def _with_url(function):
    return lambda page, payload, job: function(page, payload["url"])


_register()
