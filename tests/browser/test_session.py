"""The session gives every job a page as good as new, and survives whatever dies under it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Error as PlaywrightError

from worker.browser.failures import Kind, classify
from worker.browser.page_rules import PageRules
from worker.browser.session import BrowserSession
from worker.system import process_tree

Wait = Callable[[Callable[[], object]], None]


def family(session: BrowserSession) -> list[process_tree.ProcessId]:
    driver, _ = session.processes()
    assert driver is not None
    return [driver, *(stat.id for stat in process_tree.descendants(driver.pid))]


@pytest.mark.parametrize("clean", [True, False])
def test_every_job_has_a_context_of_its_own(session, site, clean):
    first = session.page_for_job()
    first.goto(site.url("/"))
    session.release(clean=clean)

    second = session.page_for_job()
    assert second.context is not first.context
    assert second.goto(site.url("/")).status == 200
    assert first.is_closed()


def test_nothing_a_site_stored_reaches_the_next_job(session, site):
    titles = []
    for _ in range(3):
        page = session.page_for_job()
        page.goto(site.url("/counting"))
        titles.append(page.title())
        session.release(clean=True)

    assert titles == ["1,1,", "1,1,", "1,1,"]


def test_popups_do_not_outlive_their_job(session, site):
    page = session.page_for_job()
    with page.expect_popup() as popup:
        page.goto(site.url("/popup"))
    session.release(clean=True)

    assert popup.value.is_closed()
    assert len(session.page_for_job().context.pages) == 1


def test_downloads_leave_nothing_on_disk(session, site):
    page = session.page_for_job(rules=PageRules(downloads=True))
    with page.expect_download() as download:
        page.evaluate("url => { location.href = url }", site.url("/download"))
    assert download.value.path().exists()
    session.release(clean=True)

    assert list((session.options.tmp_dir / "downloads").iterdir()) == []


def test_a_dialog_is_dismissed_and_recorded(session, site):
    page = session.page_for_job()
    page.goto(site.url("/alert"))

    assert page.title() == "after"
    assert [entry["message"] for entry in session.recorder.dialogs] == ["hi"]


def test_a_task_may_answer_dialogs_itself(session, site):
    page = session.page_for_job()
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto(site.url("/confirm"))

    assert page.title() == "true"
    assert [entry["type"] for entry in session.recorder.dialogs] == ["confirm"]


def test_a_page_that_hangs_after_its_job_is_replaced(session, site, open_busy_page):
    open_busy_page(session.page_for_job())
    started = time.monotonic()
    session.release(clean=True)

    assert session.page_for_job().goto(site.url("/")).status == 200
    assert time.monotonic() - started < 30


def test_a_crashed_page_is_recognised_and_replaced(session, site):
    page = session.page_for_job(rules=PageRules(schemes=("chrome",)))
    with pytest.raises(PlaywrightError):
        page.goto("chrome://crash")
    with pytest.raises(PlaywrightError) as caught:
        page.content()
    assert classify(caught.value).kind is Kind.CRASHED
    assert session.recorder.is_page_crashed
    session.release(clean=True)

    assert session.page_for_job().goto(site.url("/")).status == 200


def test_a_killed_browser_is_launched_again(session, site):
    page = session.page_for_job()
    driver, old = session.processes()
    session.kill()
    with pytest.raises(PlaywrightError) as caught:
        page.goto(site.url("/"))
    assert classify(caught.value).kind in (Kind.CRASHED, Kind.CLOSED, Kind.DRIVER_GONE)
    session.release(clean=False)

    assert session.page_for_job().goto(site.url("/")).status == 200
    assert session.processes()[0] == driver
    assert session.processes()[1] != old
    assert session.jobs_since_launch == 1


def test_a_killed_driver_is_started_again(session, site, wait_until: Wait):
    page = session.page_for_job()
    everybody = family(session)
    os.kill(everybody[0].pid, signal.SIGKILL)
    with pytest.raises(PlaywrightError) as caught:
        page.wait_for_timeout(5000)
    assert classify(caught.value).kind in (Kind.CRASHED, Kind.CLOSED, Kind.DRIVER_GONE)
    with pytest.raises(PlaywrightError) as caught:
        page.title()
    assert classify(caught.value).kind is Kind.DRIVER_GONE
    session.release(clean=False)

    assert session.page_for_job().goto(site.url("/")).status == 200
    wait_until(lambda: not any(map(process_tree.is_alive, everybody)))


def test_a_stopped_driver_is_replaced_when_it_does_not_hand_out_a_page(
    session, site, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("worker.browser.session.PAGE_SECONDS", 1.0)
    session.recycle()
    everybody = family(session)
    os.kill(everybody[0].pid, signal.SIGSTOP)

    assert session.page_for_job().goto(site.url("/")).status == 200
    assert session.processes()[0] != everybody[0]
    assert process_tree.wait_dead(everybody, 10)


def test_closing_leaves_no_process_and_no_file(session, site):
    session.page_for_job().goto(site.url("/"))
    everybody = family(session)
    session.close()

    assert not session.options.tmp_dir.exists()
    assert process_tree.wait_dead(everybody, 10)
    assert not session.is_alive


def test_closing_is_bounded_even_with_a_stopped_driver(session):
    session.page_for_job()
    everybody = family(session)
    os.kill(everybody[0].pid, signal.SIGSTOP)
    started = time.monotonic()
    session.close(budget_seconds=1)

    assert time.monotonic() - started < 20
    assert process_tree.wait_dead(everybody, 10)
    assert not session.options.tmp_dir.exists()


def test_recycling_replaces_driver_and_browser(session, site):
    session.page_for_job().goto(site.url("/"))
    before = family(session)
    assert session.memory_mb() > 30
    session.recycle()

    assert process_tree.wait_dead(before, 10)
    assert session.page_for_job().goto(site.url("/")).status == 200


def test_secrets_of_the_worker_reach_neither_driver_nor_browser(
    session, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("DATABASE_URL", "mysql://u:nightshift-secret@h/n")
    monkeypatch.setenv("MYSQL_PWD", "nightshift-secret")
    monkeypatch.setenv("NIGHTSHIFT_WEBHOOK", "nightshift-secret")
    session.recycle()

    for process in session.processes():
        environment = Path(f"/proc/{process.pid}/environ").read_bytes()
        assert b"nightshift-secret" not in environment
        assert str(session.options.tmp_dir).encode() in environment
    assert os.environ["MYSQL_PWD"] == "nightshift-secret"
