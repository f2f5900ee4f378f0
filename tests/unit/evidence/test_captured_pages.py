"""A captured page knows which requests it was the answer to, and what it cannot be shown for."""

from __future__ import annotations

import json

import pytest

from worker.evidence import captured_pages
from worker.evidence.captured_pages import CapturedPage

URL = "https://shop.test/p/1"


@pytest.fixture
def captured(tmp_path):
    """Read a page from evidence with these facts."""

    def captured(html=b"<h1>Lamp</h1>", **facts):
        document = {"method": "GET", "asked": "https://shop.test/?id=1", "url": URL}
        usual = {"final_url": f"{URL}#top", "status": 200, "document": document}
        (tmp_path / "error.json").write_text(json.dumps(usual | facts))
        if html is not None:
            (tmp_path / "page.html").write_bytes(html)
        return captured_pages.read(tmp_path)

    return captured


@pytest.mark.parametrize(
    ("url", "is_answered"),
    [
        (URL, True),
        (f"{URL}#reviews", True),
        ("https://SHOP.test/?id=1", True),
        ("https://shop.test/login", False),
        ("https://shop.test/?id=2", False),
        ("http://shop.test/p/1", False),
    ],
)
def test_it_answers_for_its_own_address_and_for_those_that_led_there(captured, url, is_answered):
    assert captured().answers("GET", url) is is_answered


def test_a_page_that_came_of_a_form_answers_the_form_too(captured):
    document = {"method": "POST", "asked": "https://shop.test/login", "url": URL}
    page = captured(document=document)

    assert page.answers("POST", "https://shop.test/login")
    assert not captured().answers("POST", URL)


def test_an_address_with_a_secret_is_known_by_its_masked_form(captured):
    masked = "https://shop.test/p?token=[redacted]"
    page = captured(final_url=masked, document={"method": "GET", "asked": masked, "url": masked})

    assert page.answers("GET", "https://shop.test/p?token=hunter2hunter2")
    assert not page.leads_from("https://shop.test/p?token=hunter2hunter2")


def test_what_was_redirected_leads_to_the_page_itself(captured):
    assert captured().leads_from("https://shop.test/?id=1")
    assert not captured().leads_from(URL)


def test_older_evidence_without_a_document_answers_for_any_page(captured):
    page = captured(document=None)

    assert page.answers("GET", "https://anywhere.test/")
    assert not page.leads_from("https://anywhere.test/")


@pytest.mark.parametrize(("status", "shown"), [(503, 503), (304, 200), (204, 200), (None, 200)])
def test_its_status_is_the_one_it_came_with_if_a_page_can_have_it(captured, status, shown):
    assert captured(status=status).status == shown


def test_of_its_headers_only_those_remain_that_the_pool_goes_by(captured):
    headers = {"retry-after": "60", "set-cookie": "[redacted]", "content-type": "text/html"}

    assert captured(response_headers=headers).headers == {"retry-after": "60"}


def test_a_page_that_was_cut_is_known(captured):
    cut = b"<h1>Lamp</h1>\n<!-- cut here: the page had 6000000 characters -->\n"

    assert isinstance(captured(html=cut), CapturedPage)
    assert captured(html=cut).is_cut
    assert not captured().is_cut


def test_why_there_is_no_page_is_said(captured):
    why = {"html": "skipped: the browser is dead"}

    assert captured(html=None, captured=why) == (
        "its evidence has no page (skipped: the browser is dead)"
    )
