"""Evidence of a task that opened a context of its own shows the page that it used there."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from tests.capturing import capture
from worker.browser.evidence import missing

LONG_MS = 200


def fails_in(page):
    page.locator("#missing").click(timeout=LONG_MS)


def by_hand(browser, url):
    other = browser.new_context(locale="de-DE").new_page()
    other.goto(url)
    fails_in(other)


def by_with(browser, url, **options):
    with browser.new_context(**options) as context, context.new_page() as other:
        other.goto(url)
        fails_in(other)


def by_finally(browser, url):
    context = browser.new_context()
    try:
        other = context.new_page()
        other.goto(url)
        fails_in(other)
    finally:
        context.close()


def by_page(browser, url):
    other = browser.new_page()
    try:
        other.goto(url)
        fails_in(other)
    except PlaywrightTimeout:
        other.close()
        raise


@pytest.fixture
def evidence(session, failure, errors_dir):
    def evidence():
        outcomes = capture(errors_dir, failure, session)
        folder = errors_dir / "4729" / "2"
        facts = json.loads((folder / "error.json").read_text())
        return outcomes, facts, (folder / "page.html").read_text(), folder

    return evidence


@pytest.mark.parametrize("way", [by_hand, by_with, by_finally, by_page])
def test_it_shows_the_page_in_which_the_task_failed(session, site, evidence, way):
    page = session.page_for_job()
    with pytest.raises(PlaywrightTimeout):
        way(page.context.browser, site.url("/spam"))

    outcomes, facts, html, folder = evidence()

    assert missing(outcomes) == {}
    assert "<title>Spam</title>" in html
    assert (facts["final_url"], facts["status"]) == (site.url("/spam"), 200)
    assert facts["document"]["asked"] == site.url("/spam")
    assert "line 999" in (folder / "console.log").read_text()
    assert site.url("/spam") in (folder / "network.json").read_text()


def test_the_jobs_own_page_is_shown_when_it_went_somewhere_later(session, site, evidence):
    page = session.page_for_job()
    other = page.context.browser.new_page()
    other.goto(site.url("/popup"))
    page.goto(site.url("/"))

    _, facts, html, _ = evidence()

    assert "Hello" in html
    assert (facts["final_url"], facts["status"]) == (site.url("/"), 200)


def test_a_page_that_was_closed_in_time_is_not_asked_for(session, site, evidence):
    page = session.page_for_job()
    page.goto(site.url("/"))
    with page.context.browser.new_context() as context:
        context.new_page().goto(site.url("/forbidden"))

    _, facts, html, _ = evidence()

    assert "Hello" in html
    assert facts["status"] == 200


def test_one_that_does_not_answer_costs_no_browser(
    session, site, open_busy_page, failure, errors_dir
):
    open_busy_page(session.page_for_job().context.browser.new_page())

    outcomes = capture(errors_dir, failure, session)

    assert outcomes["html"] == "skipped: the page does not answer"
    assert session.is_alive


def test_what_a_task_closed_is_closed_when_it_goes_on_or_is_done(session, site):
    browser = session.page_for_job().context.browser
    before = len(browser.contexts)
    for _ in range(5):
        with pytest.raises(PlaywrightTimeout):
            by_finally(browser, site.url("/"))

    assert len(browser.contexts) == before + 1
    session.release(clean=False)
    assert len(session.page_for_job().context.browser.contexts) <= before


def test_in_an_except_of_its_own_a_task_closes_at_once(session):
    browser = session.page_for_job().context.browser
    before = len(browser.contexts)
    try:
        raise ValueError
    except ValueError:
        browser.new_context().close()

    assert len(browser.contexts) == before


def test_a_context_that_is_recorded_is_closed_at_once(session, site, tmp_path):
    browser = session.page_for_job().context.browser
    har = tmp_path / "all.har"

    with pytest.raises(PlaywrightTimeout):
        by_with(browser, site.url("/"), record_har_path=har)

    assert site.url("/") in har.read_text()


def test_the_next_job_shows_its_own_page(session, site, evidence):
    session.page_for_job().context.browser.new_page().goto(site.url("/forbidden"))
    session.release(clean=True)
    session.page_for_job().goto(site.url("/"))

    assert "Hello" in evidence()[2]
