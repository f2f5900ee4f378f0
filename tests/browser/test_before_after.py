"""A page that changed between two visits: what the selector matched then and now, what is near."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from tests.changing_site import CHANGED, GOOD, ChangingSite
from worker.browser import before_after, good_page
from worker.browser.evidence import capture_into, missing
from worker.evidence.good_pages import GoodPages


@pytest.fixture
def shop():
    with ChangingSite().served() as shop:
        yield shop


@pytest.fixture
def pages(tmp_path):
    return GoodPages(tmp_path / "errors", "db")


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "errors" / "4729" / "2"
    folder.mkdir(parents=True)
    return folder


def visit_well(session, shop, pages):
    session.page_for_job().goto(shop.url)
    taken = good_page.take(session)
    with pages.taking():
        facts = {"job_id": 3310, "at": taken.at, "url": taken.url}
        pages.put("price", "shop", facts, taken.picture, taken.html)
    session.release(clean=True)


def fail_of(session, shop, failure, wait):
    page = session.page_for_job()
    page.goto(shop.url)
    with pytest.raises(PlaywrightTimeout) as raised:
        wait(page)
    return replace(failure, exception_message=str(raised.value))


def test_the_evidence_says_what_changed_and_has_both_pages(session, shop, pages, failure, folder):
    visit_well(session, shop, pages)
    shop.body = CHANGED
    failed = fail_of(
        session, shop, failure, lambda page: page.locator(".price").inner_text(timeout=200)
    )

    good = pages.put_into(folder, "price", "shop")
    outcomes = capture_into(folder, failed, session, last_good=good)

    assert missing(outcomes) == {}
    told = json.loads((folder / "error.json").read_text())["last_good"]
    assert told["job_id"] == 3310
    assert told["comparison"] == {
        "selector": ".price", "then": 1, "now": 0, "nearest": ".product-price",
        "nearest_count": 1, "nearest_text": "€ 149.00",
    }  # fmt: skip
    assert (folder / "good.jpg").read_bytes().startswith(b"\xff\xd8\xff")
    assert "€ 189.00" in (folder / "good.html").read_text()
    assert "€ 149.00" in (folder / "page.html").read_text()
    assert session.is_alive
    # What read the two pages is gone again.
    assert len(session.page.context.browser.contexts) <= 2


@pytest.mark.parametrize(
    ("wait", "selector"),
    [
        (lambda page: page.wait_for_selector("#gone", timeout=100), "#gone"),
        (lambda page: page.click("xpath=//h7", timeout=100), "//h7"),
        (lambda page: page.get_by_test_id("gone").click(timeout=100), '[data-testid="gone"]'),
        (lambda page: page.locator("a[b='c']").first.click(timeout=100), "a[b='c']"),
    ],
)
def test_the_selector_is_known_by_playwrights_own_words(session, shop, failure, wait, selector):
    failed = fail_of(session, shop, failure, wait)
    told = before_after.compare(session, failed.exception_message, GOOD, GOOD)

    assert told == {"selector": selector, "then": 0, "now": 0}


def test_what_matches_too_much_now_is_counted(session, shop):
    message = 'Locator.click: Error: strict mode violation: locator("p") resolved to 2 elements:'
    session.page_for_job().goto(shop.url)

    told = before_after.compare(session, message, "<p>1", "<p>1<p>2")
    assert told == {"selector": "p", "then": 1, "now": 2}


def test_without_the_html_of_then_there_is_still_a_now(session, shop):
    session.page_for_job().goto(shop.url)
    told = before_after.compare(session, 'waiting for locator(".price")', None, CHANGED)

    assert told == {"selector": ".price", "then": None, "now": 0}


def test_what_is_no_selector_has_no_count(session, shop):
    session.page_for_job().goto(shop.url)

    told = before_after.compare(session, 'waiting for locator("p[[")', GOOD, GOOD)
    assert (told["then"], told["now"]) == (None, None)
    assert before_after.compare(session, "HTTP 404", GOOD, GOOD) is None
