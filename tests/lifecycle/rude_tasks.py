"""Tasks with bad manners, and a witness who tells whether the next job notices."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

from worker import task


@task("returns_page")
def returns_page(page, payload, job):
    return {"page": page}


@task("closes_everything")
def closes_everything(page, payload, job):
    page.goto(payload["url"])
    os.closerange(3, 1000)


@task("closes_page")
def closes_page(page, payload, job):
    page.close()


@task("closes_context")
def closes_context(page, payload, job):
    page.context.close()


@task("closes_browser")
def closes_browser(page, payload, job):
    page.context.browser.close()


@task("opens_popups")
def opens_popups(page, payload, job):
    page.goto(payload["url"])
    for _ in range(50):
        page.evaluate("void window.open('about:blank')")


@task("exits")
def exits(page, payload, job):
    raise SystemExit("I leave")


@task("interrupts")
def interrupts(page, payload, job):
    raise KeyboardInterrupt


@task("prints")
def prints(page, payload, job):
    print("hello from the task", flush=True)  # noqa: T201
    os.write(1, b"and from below\n")


@task("forks")
def forks(page, payload, job):
    parent = os.getpid()
    if os.fork() == 0:
        while os.getppid() == parent:
            time.sleep(0.05)
        os._exit(0)


@task("forks_for_good")
def forks_for_good(page, payload, job):
    """Leave a child behind that hides in a session of its own and holds on to everything."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(600)
        os._exit(0)


@task("forks_a_chatterbox")
def forks_a_chatterbox(page, payload, job):
    if os.fork() == 0:
        while True:
            os.write(1, b"still talking\n")
            time.sleep(0.2)


@task("kills_its_worker")
def kills_its_worker(page, payload, job):
    os.kill(os.getpid(), signal.SIGKILL)


@task("starts_a_program")
def starts_a_program(page, payload, job):
    subprocess.Popen(["sleep", "600"], start_new_session=True)


@task("forks_and_returns")
def forks_and_returns(page, payload, job):
    os.fork()
    return {"pid": os.getpid()}


@task("forks_and_raises")
def forks_and_raises(page, payload, job):
    if os.fork() == 0:
        raise ValueError("in the child")


@task("leaves_alert")
def leaves_alert(page, payload, job):
    page.on("dialog", lambda dialog: None)
    page.evaluate("setTimeout(() => alert('still here'), 0)")
    page.context.wait_for_event("dialog")


@task("asks_before_leaving")
def asks_before_leaving(page, payload, job):
    page.goto(payload["url"])
    page.evaluate("void (window.onbeforeunload = event => event.preventDefault())")
    page.mouse.click(5, 5)


@task("downloads")
def downloads(page, payload, job):
    page.set_content("<a download='x.bin' href='data:application/octet-stream,x'>get</a>")
    page.click("a", no_wait_after=True)


@task("is_impatient")
def is_impatient(page, payload, job):
    page.set_default_timeout(1)
    page.set_default_navigation_timeout(1)
    page.context.set_default_timeout(1)


@task("downloads_for_ever")
def downloads_for_ever(page, payload, job):
    with page.expect_download():
        page.set_content("<a download='x.bin' href='data:application/octet-stream,x'>get</a>")
        page.click("a")
    page.evaluate("void fetch('/hang/silent')")


@task("returns_recursion")
def returns_recursion(page, payload, job):
    loop = []
    loop.append(loop)
    return loop


@task("returns_too_much")
def returns_too_much(page, payload, job):
    return "x" * 2_000_000


@task("raises_page")
def raises_page(page, payload, job):
    raise ValueError(page, "with a \ud800 half character and a \0")


@task("changes_folder")
def changes_folder(page, payload, job):
    os.chdir("/")
    os.environ["DATABASE_URL"] = "mysql://nowhere/"


@task("closes_stdout")
def closes_stdout(page, payload, job):
    sys.stdout.close()


@task("litters")
def litters(page, payload, job):
    page.goto(payload["url"])
    page.evaluate("document.cookie = 'seen=1'; localStorage.seen = 1; sessionStorage.seen = 1")
    page.route("**/*", lambda route: route.abort())


@task("witness")
def witness(page, payload, job):
    """Look around before and after a page that takes longer than an impatient timeout."""
    print("a witness", flush=True)  # noqa: T201
    before = {"url": page.url, "pages": len(page.context.pages), "cookies": page.context.cookies()}
    page.goto(payload["url"])
    stored = page.evaluate("[localStorage.length, sessionStorage.length]")
    return {**before, "stored": stored, "title": page.title(), "pid": os.getpid()}
