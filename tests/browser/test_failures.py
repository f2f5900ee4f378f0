"""A page whose renderer dies is the browser's trouble, whatever the task was waiting for."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Page, expect

from worker.browser.failures import Kind, classify
from worker.system import process_tree


def renderers(session) -> list[int]:
    browser = session.processes()[1].pid
    pids = [stat.pid for stat in process_tree.descendants(browser)]
    return [pid for pid in pids if b"--type=renderer" in command_line(pid)]


def command_line(pid: int) -> bytes:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def kill_soon(session) -> threading.Thread:
    """Kill every renderer of the session's browser, as the kernel does when memory runs out."""

    def kill() -> None:
        time.sleep(0.5)
        for pid in renderers(session):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    return thread


@pytest.mark.parametrize(
    "wait",
    [
        lambda page, site: page.goto(site.url("/never"), timeout=8000),
        lambda page, site: page.wait_for_selector("#never", timeout=8000),
        lambda page, site: expect(page.locator("#never")).to_be_visible(timeout=8000),
        lambda page, site: page.evaluate("() => new Promise(() => {})"),
    ],
    ids=["goto", "wait_for_selector", "expect", "evaluate"],
)
def test_a_killed_renderer_is_not_the_sites_fault(
    session, site, wait: Callable[[Page, object], object]
):
    page = session.page_for_job()
    page.goto(site.url("/"))
    killer = kill_soon(session)
    with session.limit(20.0) as limit, pytest.raises((PlaywrightError, AssertionError)) as caught:
        wait(page, site)
    killer.join()
    session.hear_events()
    crashed = session.recorder.is_page_crashed

    assert not limit.fired
    assert crashed
    assert classify(caught.value, page_crashed=crashed).kind is Kind.CRASHED


@pytest.mark.parametrize("isolation", ["context", "page", "worker"])
def test_a_renderer_that_is_killed_while_no_job_runs_costs_the_next_job_nothing(
    session, site, isolation
):
    for _ in range(2):
        page = session.page_for_job(isolation=isolation, task="t")
        page.goto(site.url("/"))
        session.release(clean=True)
    # All that follows from the last job has come to its end, as between two jobs.
    session._engine.side_calls.hear(0.3)
    browser = session.processes()[1]
    killed = renderers(session)
    assert killed
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + 10
    while any(pid in renderers(session) for pid in killed) or time.monotonic() < deadline - 9.5:
        assert time.monotonic() < deadline
        time.sleep(0.02)

    with session.limit(10.0) as limit:
        answer = session.page_for_job(isolation=isolation, task="t").goto(site.url("/"))

    assert not limit.fired, limit.stack
    assert answer.status == 200
    assert session.processes()[1] == browser


def test_the_next_job_has_a_good_page_after_a_crash(session, site):
    page = session.page_for_job()
    page.goto(site.url("/"))
    browser = session.processes()[1]
    killer = kill_soon(session)
    with pytest.raises(PlaywrightError):
        page.wait_for_selector("#never", timeout=8000)
    killer.join()
    session.release(clean=False)

    assert session.page_for_job().goto(site.url("/")).status == 200
    assert session.processes()[1] == browser
    assert not session.recorder.is_page_crashed
