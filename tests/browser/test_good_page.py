"""The page of a job that is done is taken as it stands, masked, and never at a good job's cost."""

from __future__ import annotations

import time

import pytest

from worker.browser import good_page
from worker.browser.good_page import is_worth_taking, take
from worker.evidence import known_secrets


@pytest.mark.parametrize("isolation", ["context", "page", "worker"])
def test_a_good_page_is_taken_with_picture_and_html(session, site, isolation):
    session.page_for_job(isolation=isolation, task="t").goto(site.url("/?token=abc"))
    assert is_worth_taking(session)
    taken = take(session)

    assert taken.picture.startswith(b"\xff\xd8\xff")
    assert b"<h1>Hello</h1>" in taken.html
    assert taken.status == 200
    assert taken.url == site.url("/?token=[redacted]")
    session.release(clean=True)
    # The next job has its page, whatever was done with this one.
    session.page_for_job(isolation=isolation, task="t").goto(site.url("/"))


def test_passwords_tokens_and_known_secrets_are_masked(session, site):
    known_secrets.begin({"password": "hunter2-of-this-job"})
    page = session.page_for_job()
    page.goto(site.url("/"))
    page.set_content(
        "<p>hunter2-of-this-job</p><input type=password value=typed-pw>"
        "<input name=csrf_token value=t0ken-of-form><a href='http://me:pw-in-url@h.test/'>x</a>"
    )
    try:
        html = take(session).html.decode()
    finally:
        known_secrets.end()

    for secret in ("hunter2", "typed-pw", "t0ken-of-form", "pw-in-url"):
        assert secret not in html
    assert html.count("[redacted]") == 4


def test_what_was_typed_is_not_in_the_html(session, site):
    page = session.page_for_job()
    page.goto(site.url("/"))
    page.set_content("<input id=a><input id=b type=password>")
    page.fill("#a", "typed-into-a")
    page.fill("#b", "typed-into-b")

    assert b"typed-into" not in take(session).html


@pytest.mark.parametrize("path", ["/forbidden", "/policy"])
def test_an_error_page_is_not_worth_taking(session, site, path):
    session.page_for_job().goto(site.url(path))

    assert not is_worth_taking(session)


def test_what_is_no_web_page_is_not_worth_taking(session, site):
    assert not is_worth_taking(session)
    page = session.page_for_job()
    assert not is_worth_taking(session)
    page.goto(site.url("/"))
    page.goto("about:blank")
    assert not is_worth_taking(session)
    page.close()
    assert not is_worth_taking(session)


def test_a_page_that_went_where_it_may_not_is_not_worth_taking(session, site, monkeypatch):
    session.page_for_job().goto(site.url("/"))
    assert is_worth_taking(session)
    monkeypatch.setattr(session.guards.pages, "why_hidden", lambda context: "it was on a file")

    assert not is_worth_taking(session)


def test_a_busy_page_is_left_alone_at_once_and_the_browser_lives(session, open_busy_page):
    page = session.page_for_job()
    open_busy_page(page)
    began = time.monotonic()

    assert take(session) is None
    assert time.monotonic() - began < 2.0
    assert session.is_alive


def test_a_page_that_hangs_in_its_picture_costs_a_second_or_two(session, site, monkeypatch):
    session.page_for_job().goto(site.url("/"))
    monkeypatch.setattr(good_page, "_picture", lambda page: page.evaluate("while (true);"))
    began = time.monotonic()

    assert take(session) is None
    assert time.monotonic() - began < 5.0
    # Its browser is lost, and the next job gets another.
    session.page_for_job().goto(site.url("/"))


def test_a_page_of_a_dead_browser_is_not_taken(session, site, wait_until):
    session.page_for_job().goto(site.url("/"))
    session.kill()
    wait_until(lambda: not session.is_alive)

    assert not is_worth_taking(session)
    assert take(session) is None


def test_huge_html_is_left_out_and_the_picture_kept(session, site):
    session.page_for_job().goto(site.url("/huge"))
    taken = take(session)

    assert taken.html is None
    assert taken.picture


def test_a_picture_of_a_tall_page_is_of_its_first_screens(session, site):
    session.page_for_job().goto(site.url("/tall"))
    began = time.monotonic()
    taken = take(session)

    assert time.monotonic() - began < 2.0
    assert taken is not None
    assert len(taken.picture) < 1_000_000


def test_a_traced_job_loses_its_trace_not_its_page(session, site):
    session.page_for_job(trace=True).goto(site.url("/"))

    assert take(session) is not None
    assert not session.tab.is_tracing
