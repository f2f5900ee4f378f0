"""The recorder keeps the last of everything, without secrets, and only of its own job."""

from __future__ import annotations

import contextlib
import time

import pytest
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from tests.browser.conftest import wait_for_page_error
from worker.browser.recorder import MAX_CONSOLE


def test_console_messages_and_page_errors_are_kept_up_to_a_bound(session, site):
    page = session.page_for_job()
    page.goto(site.url("/spam"))
    wait_for_page_error(session, page)

    console = session.recorder.console
    assert len(console) == MAX_CONSOLE
    assert any(entry["type"] == "pageerror" for entry in console)
    assert any("thrown later" in entry["text"] for entry in console)
    assert not any("me:pw" in entry["text"] or "abc" in entry["text"] for entry in console)
    assert session.recorder.lost_events == 0


def test_the_main_documents_answer_is_told_from_a_frames(session, site):
    page = session.page_for_job()
    page.goto(site.url("/frame"))

    assert session.recorder.main_response.status == 200
    assert {entry["status"] for entry in session.recorder.responses} == {200, 403}
    assert session.recorder.last_url == site.url("/frame")


def test_headers_that_matter_are_kept_and_cookies_are_not(session, site):
    page = session.page_for_job()
    page.goto(site.url("/?session_token=abc&page=2"))

    answer = session.recorder.responses[0]
    assert 0 <= answer["took"] <= answer["at"]
    assert answer["headers"]["cf-ray"] == "8c0-FRA"
    assert "topsecret" not in str(answer)
    assert answer["url"].endswith("/?session_token=[redacted]&page=2")


def test_failed_requests_are_kept_with_their_reason(session, site):
    page = session.page_for_job()
    page.goto(site.url("/missing-picture"))

    failed = session.recorder.failed_requests[0]
    assert "ERR_" in failed["failure"]
    assert "api_key=[redacted]" in failed["url"]


@pytest.mark.parametrize(("path", "status"), [("/never", None), ("/headers-only", 200)])
def test_a_request_without_its_answer_is_pending(session, site, path, status):
    page = session.page_for_job()
    page.goto(site.url("/"))
    with pytest.raises(PlaywrightTimeout):
        page.goto(site.url(f"{path}?token=abc"), timeout=500)

    (request,) = session.recorder.network()["pending"]
    assert (request["status"], request["method"], request["type"]) == (status, "GET", "document")
    assert request["url"] == site.url(f"{path}?token=[redacted]")
    assert request["since"] > 0


def test_requests_that_ended_are_not_pending(session, site):
    page = session.page_for_job()
    page.goto(site.url("/frame"))
    page.goto(site.url("/missing-picture"))
    deadline = time.monotonic() + 30
    while session.recorder.network()["pending"]:
        assert time.monotonic() < deadline, "a request that has ended is still pending"
        page.wait_for_timeout(20)

    assert session.recorder.lost_events == 0


def test_a_job_sees_nothing_of_the_one_before(session, site):
    page = session.page_for_job()
    page.goto(site.url("/spam"))
    session.release(clean=True)
    session.page_for_job()

    recorder = session.recorder
    assert not recorder.console
    assert not recorder.responses
    assert recorder.main_response is None
    assert recorder.last_url is None


def test_what_happens_between_jobs_is_nobodys(session, site):
    page = session.page_for_job(isolation="page")
    session.release(clean=True)
    # Until it is emptied, another page would be in its way.
    session._tabs._emptied.wait()
    page.goto(site.url("/spam"))

    assert not session.recorder.console
    assert not session.recorder.responses


def test_the_browsers_death_is_noted(session, wait_until):
    page = session.page_for_job()
    session.kill()

    def is_noted() -> bool:
        # Events are delivered while a call waits, even if the call then fails.
        with contextlib.suppress(PlaywrightError):
            page.title()
        return session.recorder.is_disconnected

    wait_until(is_noted)
