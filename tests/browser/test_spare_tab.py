"""The next job's tab is there when it is wanted, fresh and right, or is made then."""

from __future__ import annotations

import os
import signal
import time
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import Error as PlaywrightError

from tests.browser.recording_proxy import RecordingProxy
from worker.browser.context_options import ContextOptions
from worker.browser.page_rules import PageRules
from worker.browser.session import BrowserSession
from worker.browser.tab import Tab
from worker.browser.task_contexts import TaskContexts


def spare_of(session: BrowserSession) -> Tab | None:
    ready = session._tabs._spare._ready
    return ready[1] if ready is not None else None


@pytest.fixture
def prepared(session, site) -> Tab:
    """Do a job that waits for its site until the next tab is there; the job goes on."""
    session._tabs.drop_spare()
    page = session.page_for_job()
    page.goto(site.url("/"))
    deadline = time.monotonic() + 20
    while spare_of(session) is None:
        assert time.monotonic() < deadline, "no tab was prepared"
        page.wait_for_timeout(20)
    return spare_of(session)


def test_it_is_made_while_the_job_waits_and_goes_to_the_next(session, site, prepared):
    assert prepared.page is not session.page
    assert len(session.page.context.pages) == 1
    assert len(session.recorder.responses) == 1
    session.release(clean=True)

    assert session.page_for_job() is prepared.page
    assert not session.recorder.responses
    assert prepared.page.goto(site.url("/")).status == 200


def test_only_one_is_made(session, site, prepared):
    contexts = len(session.page.context.browser.contexts)
    for _ in range(3):
        session.page.goto(site.url("/"))

    assert spare_of(session) is prepared
    assert len(session.page.context.browser.contexts) == contexts


def test_it_is_not_handed_out_with_another_proxy(session, site, prepared):
    session.release(clean=True)
    proxy = RecordingProxy("ann", "secret")
    try:
        session.use_proxy(proxy.proxy)
        page = session.page_for_job()
        page.goto("http://shop.test/")
        assert page.title() == f"through {proxy.port}"
        assert prepared.page.is_closed()
    finally:
        session.use_proxy(None)
        proxy.close()


def test_one_that_is_being_made_for_another_proxy_is_closed(session, site):
    session._tabs.drop_spare()
    page = session.page_for_job()
    session._tabs._spare.plan(session._engine.side_calls, ContextOptions())
    session._tabs.drop_spare()
    page.wait_for_timeout(1000)

    assert spare_of(session) is None
    assert page.context.browser.contexts == [page.context]


def test_it_dies_with_its_browser(session, site, prepared):
    session.kill()
    session.release(clean=False)

    page = session.page_for_job()
    assert page is not prepared.page
    assert page.goto(site.url("/")).status == 200


def test_a_closed_one_is_not_handed_out(session, site, prepared):
    for context in session.page.context.browser.contexts:
        if context is not session.page.context:
            context.close()
    session.release(clean=True)

    assert session.page_for_job().goto(site.url("/")).status == 200


def test_a_crashed_one_is_not_handed_out(session, site, prepared):
    session.guards.pages.rules = PageRules(schemes=("chrome",))
    with pytest.raises(PlaywrightError):
        prepared.page.goto("chrome://crash")
    deadline = time.monotonic() + 10
    while not prepared.is_worn:
        assert time.monotonic() < deadline, "nobody was told of the crash"
        session.page.wait_for_timeout(20)
    session.release(clean=True)

    page = session.page_for_job()
    assert page is not prepared.page
    assert page.goto(site.url("/")).status == 200


def test_that_it_cannot_be_made_harms_nobody(session, site, monkeypatch: pytest.MonkeyPatch):
    session._tabs.drop_spare()
    page = session.page_for_job()
    with monkeypatch.context() as patch:
        patch.setattr(TaskContexts, "make", lambda self, **_: 1 / 0)
        assert page.goto(site.url("/")).status == 200
        page.wait_for_timeout(100)
        assert page.title() == "Home"
    session.release(clean=True)

    assert session.page_for_job().goto(site.url("/")).status == 200


def test_one_that_never_gets_ready_costs_the_browser_and_not_the_worker(
    session, site, monkeypatch: pytest.MonkeyPatch
):
    session._tabs.drop_spare()
    page = session.page_for_job()
    monkeypatch.setattr("worker.browser.session.PAGE_SECONDS", 1.0)
    with monkeypatch.context() as patch:
        patch.setattr(TaskContexts, "make", lambda self, **_: page.wait_for_timeout(60_000))
        page.goto(site.url("/"))
    session._tabs._closing.forget()
    tab, session._current = session._current, None
    assert tab is not None

    assert session.page_for_job().goto(site.url("/")).status == 200


def test_a_stopped_driver_is_replaced_though_a_tab_is_being_made(
    session, site, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("worker.browser.session.PAGE_SECONDS", 1.0)
    session.recycle()
    page = session.page_for_job()
    session._tabs._spare.plan(session._engine.side_calls, ContextOptions())
    driver, _ = session.processes()
    os.kill(driver.pid, signal.SIGSTOP)
    session.release(clean=False)

    assert page is not session.page_for_job()
    assert session.page.goto(site.url("/")).status == 200
    assert session.processes()[0] != driver


def test_a_tasks_listeners_do_not_wait_for_it(session, site):
    """Events come in their order, and at once, though a tab is made at the first of them."""
    session._tabs.drop_spare()
    page = session.page_for_job()
    heard = []
    page.on("request", lambda _: heard.append("request"))
    page.on("response", lambda _: heard.append("response"))
    page.on("load", lambda _: heard.append("load"))
    page.goto(site.url("/"))

    assert heard == ["request", "response", "load"]


def test_a_trace_knows_nothing_of_it(session, site, tmp_path: Path):
    session._tabs.drop_spare()
    page = session.page_for_job(trace=True)
    page.goto(site.url("/"))
    page.wait_for_timeout(500)
    assert spare_of(session) is None
    session.tab.stop_trace(tmp_path / "trace.zip")

    with zipfile.ZipFile(tmp_path / "trace.zip") as archive:
        text = b"".join(archive.read(name) for name in archive.namelist())
    assert b"newPage" not in text
