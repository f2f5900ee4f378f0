"""Tasks that give their job's secret away in every way they can, and then fail."""

# ruff: noqa: T201

from __future__ import annotations

import json
import os
import signal
import sys
import time
from urllib.parse import quote

from worker import Fail, Retry, task


class Refused(Exception):
    """What every one of these ends with."""


def unknown(payload):
    """A secret that stands under no name in the payload, so that only its place gives it away."""
    return payload["seed"][::-1]


@task("raises")
def raises(page, payload, job):
    raise ValueError(f"the site does not like {payload['password']} at all")


@task("raises_a_chain")
def raises_a_chain(page, payload, job):
    try:
        raise KeyError(payload["password"])
    except KeyError as error:
        raise Refused({"sent": payload["password"]}) from error


@task("fails_with_a_label")
def fails_with_a_label(page, payload, job):
    raise Fail(f"{payload['password']} was refused")


@task("retries")
def retries(page, payload, job):
    raise Retry(f"not now, {payload['password']}")


@task("prints")
def prints(page, payload, job):
    print(payload["password"])
    print("on stderr", payload["password"], file=sys.stderr)
    raise Refused


@task("prints_letters")
def prints_letters(page, payload, job):
    for letter in payload["password"]:
        print(letter, end="", flush=True)
    raise Refused


@task("logs")
def logs(page, payload, job):
    job.log.warning("logging in as %s", payload["password"])
    raise Refused


@task("names_steps")
def names_steps(page, payload, job):
    job.step(f"typed {payload['password']}")
    raise Refused


@task("fills_what_is_missing")
def fills_what_is_missing(page, payload, job):
    page.goto(payload["url"])
    page.locator("#absent").fill(payload["password"], timeout=200)


@task("fills_what_is_disabled")
def fills_what_is_disabled(page, payload, job):
    page.goto(payload["url"])
    page.evaluate("document.querySelector('#card').disabled = true")
    page.locator("#card").fill(unknown(payload), timeout=300)


@task("types")
def types(page, payload, job):
    """Type it with every call that types, and send it."""
    page.goto(payload["url"])
    page.locator("#password").fill(unknown(payload))
    page.locator("#user").press_sequentially("me")
    page.locator("#note").focus()
    page.keyboard.insert_text("a note")
    page.locator("#password").press("End")
    page.click("button")
    raise Refused(page.url)


@task("types_everywhere")
def types_everywhere(page, payload, job):
    """Type it with every call that types, into fields that are no passwords, and send it."""
    page.goto(payload["url"])
    page.locator("#card").fill(unknown(payload))
    page.locator("#user").press_sequentially(unknown(payload))
    page.locator("#note").focus()
    for letter in unknown(payload):
        page.keyboard.press(letter)
    page.keyboard.press("Enter")
    page.keyboard.insert_text(unknown(payload))
    page.once("dialog", lambda dialog: dialog.accept(unknown(payload)))
    page.evaluate("document.title = prompt('who?')")
    page.goto(payload["url"])
    raise Refused


@task("repeats_a_header")
def repeats_a_header(page, payload, job):
    raise Refused(payload["headers"][0]["value"].partition("=")[2])


@task("shows_it")
def shows_it(page, payload, job):
    """Let the page repeat it: address, title, text, console."""
    page.goto(f"{payload['url']}?q={quote(payload['password'])}")
    raise Refused(page.title())


@task("posts_it")
def posts_it(page, payload, job):
    page.goto(payload["url"])
    page.evaluate(
        """async ([password]) => { await fetch('/json', {method: 'POST', body:
           JSON.stringify({body: JSON.stringify({word: password})}),
           headers: {'Content-Type': 'application/json', 'X-Word': encodeURIComponent(password)}})}
        """,
        [payload["password"]],
    )
    raise Refused


@task("sends_headers")
def sends_headers(page, payload, job):
    page.set_extra_http_headers({"Authorization": f"Digest {unknown(payload)}"})
    page.context.add_cookies([{"name": "x", "value": unknown(payload), "url": payload["url"]}])
    page.goto(payload["url"])
    page.evaluate("document.cookie")
    raise Refused


@task("alerts")
def alerts(page, payload, job):
    page.goto(payload["url"])
    page.evaluate("text => alert(text)", payload["password"])
    raise Refused


@task("opens")
def opens(page, payload, job):
    page.goto(payload["url"])
    page.evaluate("url => console.log('opened ' + url)", payload["url"])
    print("opened", payload["url"])
    raise Refused(f"nothing at {payload['url']}")


@task("asks_in_vain")
def asks_in_vain(page, payload, job):
    page.goto(f"http://127.0.0.1:1/?q={quote(payload['password'])}")


@task("complains_in_json")
def complains_in_json(page, payload, job):
    inner = json.dumps({"session": "s", "password": unknown(payload)})
    raise Refused(json.dumps({"error": inner}))


@task("dies")
def dies(page, payload, job):
    job.step(f"about to die of {payload['password']}")
    print("dying of", payload["password"], flush=True)
    os.kill(os.getpid(), signal.SIGKILL)


@task("hangs", timeout=1)
def hangs(page, payload, job):
    page.goto(f"{payload['url']}?q={quote(payload['password'])}")
    job.step(f"hanging with {payload['password']}")
    print(payload["password"])
    time.sleep(60)


@task("reads_a_secret")
def reads_a_secret(page, payload, job):
    secret = job.secret(payload["name"])
    page.goto(f"{payload['url']}?q={quote(secret)}")
    print(secret)
    raise Refused(secret)


@task("returns_a_secret")
def returns_a_secret(page, payload, job):
    secret = job.secret(payload["name"])
    return {"said": secret, "url": f"{payload['url']}?q={quote(secret)}", secret: [secret]}
