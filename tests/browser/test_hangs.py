"""A limit ends whatever hangs, says where it hung, and leaves a session that works."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest
from playwright.sync_api import Error as PlaywrightError

from worker.system import process_tree


def a_task_that_evaluates_for_ever(page):
    page.evaluate("while (true);")


def test_a_busy_page_is_ended_and_the_stack_names_the_task(session, site):
    page = session.page_for_job()
    with session.limit(2.0) as limit, pytest.raises(PlaywrightError):
        a_task_that_evaluates_for_ever(page)

    assert limit.fired
    assert "a_task_that_evaluates_for_ever" in limit.stack
    assert 'page.evaluate("while (true);")' in limit.stack
    assert "site-packages" not in limit.stack
    assert "asyncio" not in limit.stack
    session.release(clean=False)
    assert session.page_for_job().goto(site.url("/")).status == 200


def test_a_page_that_never_loads_is_ended(session, site):
    page = session.page_for_job()
    with session.limit(0.5) as limit, pytest.raises(PlaywrightError):
        page.goto(site.url("/never"), timeout=0)

    assert limit.fired
    assert not session.is_alive


@pytest.mark.parametrize("path", ["/never", "/headers-only", "/spinning"])
def test_a_browser_killed_while_a_page_is_opened_frees_its_job_within_seconds(session, site, path):
    page = session.page_for_job()
    _, browser = session.processes()
    killer = threading.Timer(0.3, os.killpg, (browser.pid, signal.SIGKILL))
    killer.start()
    began = time.monotonic()
    with session.limit(30.0) as limit, pytest.raises(PlaywrightError, match="has been closed"):
        page.goto(site.url(path), timeout=0)
    session.release(clean=False)
    took = time.monotonic() - began
    killer.join()

    assert not limit.fired
    assert took < 10
    assert session.page_for_job().goto(site.url("/")).status == 200


def test_a_stopped_driver_is_killed_when_killing_the_browser_did_not_help(session, site):
    page = session.page_for_job()
    driver, browser = session.processes()
    os.kill(driver.pid, signal.SIGSTOP)
    with session.limit(0.5) as limit, pytest.raises(PlaywrightError):
        page.title()

    assert limit.fired
    assert process_tree.wait_dead([driver, browser], 10)
    session.release(clean=False)
    assert session.page_for_job().goto(site.url("/")).status == 200


def test_a_handler_that_hangs_is_named_too(session, site):
    page = session.page_for_job()

    def a_handler_that_spins(_: object) -> None:
        deadline = time.monotonic() + 30
        while not limit.fired and time.monotonic() < deadline:
            pass

    page.on("response", a_handler_that_spins)
    with session.limit(4.0) as limit:
        try:
            page.goto(site.url("/"))
        except PlaywrightError:
            pass

    assert "a_handler_that_spins" in limit.stack
    assert "page.goto" in limit.stack


def test_a_limit_that_is_kept_harms_nothing(session, site):
    page = session.page_for_job()
    with session.limit(4.0) as limit:
        page.goto(site.url("/"))
    page.wait_for_timeout(4200)

    assert not limit.fired
    assert session.is_alive
    assert page.title() == "Home"
