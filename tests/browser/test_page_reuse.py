"""With `isolation="page"` two pages take turns at jobs while they are as good as new."""

from __future__ import annotations

import pytest


def page_of_the_job_after_next(session):
    """One job has the other page meanwhile."""
    session.page_for_job(isolation="page")
    session.release(clean=True)
    return session.page_for_job(isolation="page")


def test_a_successful_job_hands_its_page_on(session, site):
    first = session.page_for_job(isolation="page")
    first.goto(site.url("/"))
    session.release(clean=True)

    assert page_of_the_job_after_next(session) is first
    assert first.url == "about:blank"


def test_a_failed_job_gets_its_page_replaced(session, site):
    first = session.page_for_job(isolation="page")
    first.goto(site.url("/"))
    session.release(clean=False)

    assert session.page_for_job(isolation="page") is not first
    assert first.is_closed()


def test_nothing_a_site_stored_reaches_the_next_job(session, site):
    pages, titles = [], []
    for _ in range(4):
        page = session.page_for_job(isolation="page")
        assert page.context.cookies() == []
        page.goto(site.url("/counting"))
        titles.append(page.title())
        page.goto(site.url("/"))
        session.release(clean=True)
        pages.append(page)

    assert titles == ["1,1,"] * 4
    assert pages[:2] == pages[2:]


def test_the_next_job_begins_on_another_page_and_finds_its_document_left(session, site):
    first = session.page_for_job(isolation="page")
    first.goto(site.url("/"))
    session.release(clean=True)

    second = session.page_for_job(isolation="page")
    second.goto(site.url("/"))

    assert second is not first
    assert second.context is not first.context
    assert first.url == "about:blank"


def test_timeouts_that_a_task_changed_do_not_outlive_it(session, site):
    page = session.page_for_job(isolation="page")
    page.set_default_timeout(1)
    page.set_default_navigation_timeout(1)
    page.context.set_default_navigation_timeout(1)
    session.release(clean=True)

    assert page_of_the_job_after_next(session) is page
    assert page.goto(site.url("/")).status == 200


@pytest.mark.parametrize(
    "change",
    [
        lambda page: page.on("response", lambda _: None),
        lambda page: page.context.on("request", lambda _: None),
        lambda page: page.route("**/*.png", lambda route: route.abort()),
        lambda page: page.context.add_init_script("window.left = 1"),
        lambda page: page.set_extra_http_headers({"x-left": "1"}),
        lambda page: page.set_viewport_size({"width": 300, "height": 300}),
        lambda page: page.context.grant_permissions(["geolocation"]),
        lambda page: page.clock.set_fixed_time("2020-01-01"),
    ],
    ids=[
        "listener", "context listener", "route", "init script", "headers", "viewport",
        "permissions", "clock",
    ],
)  # fmt: skip
def test_a_page_with_lasting_changes_is_not_handed_on(session, change):
    page = session.page_for_job(isolation="page")
    change(page)
    session.release(clean=True)

    assert page_of_the_job_after_next(session) is not page


def test_the_next_job_of_another_isolation_gets_another_page(session, site):
    shared = session.page_for_job(isolation="page")
    session.release(clean=True)

    own = session.page_for_job()
    own.goto(site.url("/"))
    assert own.context is not shared.context
    session.release(clean=True)

    assert session.page_for_job(isolation="page") is shared


def test_a_traced_page_is_not_handed_on(session, site):
    page = session.page_for_job(isolation="page", trace=True)
    page.goto(site.url("/"))
    session.release(clean=True)

    assert page_of_the_job_after_next(session) is not page
    assert list((session.options.tmp_dir / "traces").iterdir()) == []


def test_a_page_that_hangs_after_its_job_is_replaced(session, site, open_busy_page):
    page = session.page_for_job(isolation="page")
    open_busy_page(page)
    session.release(clean=True)

    again = page_of_the_job_after_next(session)
    assert again is not page
    assert again.goto(site.url("/")).status == 200
