"""A page forgets where it has been, and not before it has left."""

from __future__ import annotations

import pytest
from playwright.sync_api import Error as PlaywrightError

from worker.browser import navigation_history
from worker.browser.navigation_history import BLANK

LEAVE_LATER = "ms => { setTimeout(() => location.replace('about:blank'), ms) }"


@pytest.fixture
def page(session, site):
    page = session.page_for_job()
    page.goto(site.url("/"))
    page.goto(site.url("/counting"))
    yield page
    session.release(clean=False)


@pytest.fixture
def devtools(page):
    return page.context.new_cdp_session(page)


def entries(devtools):
    history = devtools.send("Page.getNavigationHistory")
    return [entry["url"] for entry in history["entries"]]


def test_nothing_but_the_blank_page_is_left(page, devtools):
    page.goto(BLANK)
    assert len(entries(devtools)) >= 3

    navigation_history.forget(devtools)

    assert entries(devtools) == [BLANK]


def test_a_page_that_leaves_late_is_waited_for(page, devtools):
    page.evaluate(LEAVE_LATER, 100)

    navigation_history.forget(devtools, seconds=10)

    assert entries(devtools) == [BLANK]


def test_a_page_that_does_not_leave_is_not_taken_for_clean(page, devtools):
    with pytest.raises(PlaywrightError, match="has not left"):
        navigation_history.forget(devtools, seconds=0.05)
