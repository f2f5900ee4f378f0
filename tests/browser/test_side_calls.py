"""What is done beside the job goes on while a call waits, and never gets in the job's way."""

from __future__ import annotations

import os
import signal
import time

import pytest
from playwright.sync_api import Error as PlaywrightError

from worker.browser.side_calls import SideCalls


@pytest.fixture
def side_calls(session) -> SideCalls:
    found = session._engine.side_calls
    assert found is not None
    return found


def test_a_planned_call_goes_on_while_another_waits(session, site, side_calls):
    page = session.page_for_job()
    steps = []

    def work() -> None:
        context = page.context.browser.new_context()
        steps.append("made")
        context.close()
        steps.append("closed")

    call = side_calls.plan(work)
    assert steps == []
    page.wait_for_timeout(2000)

    assert steps == ["made", "closed"]
    assert call.is_done
    assert call.error is None


def test_waiting_for_it_needs_no_other_call(session, side_calls):
    page = session.page_for_job()
    call = side_calls.plan(lambda: page.wait_for_timeout(200))
    began = time.monotonic()
    side_calls.wait(call)

    assert call.is_done
    assert 0.2 <= time.monotonic() - began < 5


def test_a_started_call_is_on_its_way_at_once(session, site, side_calls, wait_until):
    page = session.page_for_job()
    page.goto(site.url("/"))
    before = site.busy_pages
    began = time.monotonic()
    call = side_calls.start(lambda: page.evaluate("fetch('/is-busy')"))
    took = time.monotonic() - began

    # Nothing is asked of Playwright here: the message has left already.
    wait_until(lambda: site.busy_pages > before)
    assert not call.is_done
    assert took < 1
    side_calls.wait(call)
    assert call.error is None


def test_what_goes_wrong_in_it_is_kept_and_not_raised(session, side_calls):
    page = session.page_for_job()
    calls = [side_calls.plan(lambda: page.evaluate("throw 1")), side_calls.start(lambda: 1 / 0)]
    page.wait_for_timeout(50)

    assert page.title() == ""
    assert isinstance(calls[0].error, PlaywrightError)
    assert isinstance(calls[1].error, ZeroDivisionError)


def test_a_call_in_it_fails_when_the_browser_is_killed(session, side_calls):
    page = session.page_for_job()
    call = side_calls.start(lambda: page.wait_for_timeout(60_000))
    session.kill()
    side_calls.wait(call)

    assert isinstance(call.error, PlaywrightError)


def test_nobody_waits_for_a_driver_that_is_gone(session, site, side_calls):
    page = session.page_for_job()
    driver, _ = session.processes()
    call = side_calls.start(lambda: page.wait_for_timeout(60_000))
    os.kill(driver.pid, signal.SIGKILL)
    side_calls.wait(call)

    assert call.is_done
    assert side_calls.plan(lambda: None).is_done
    session.release(clean=False)
    assert session.page_for_job().goto(site.url("/")).status == 200
