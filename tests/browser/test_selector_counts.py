"""HTML is read without running or fetching anything; a hostile one costs no more than a limit."""

from __future__ import annotations

import time

import pytest
from playwright.sync_api import Error as PlaywrightError

from tests.changing_site import ChangingSite
from worker.browser.selector_counts import InertReader
from worker.evidence.failed_selector import FailedSelector
from worker.evidence.nearest_selector import MAX_NAME, MAX_NAMES


@pytest.fixture
def reader(session):
    reader = InertReader(session.page_for_job().context.browser)
    yield reader
    reader.close()


def css(text):
    return FailedSelector("css", text)


def test_classes_ids_and_names_are_listed_in_their_order(reader):
    found = reader.look("<p id=a class='b c'><p class=b><input name='q\"'>", css(".b"))

    assert found.count == 2
    assert found.names == {"#a": 1, ".b": 2, ".c": 1, '[name="q""]': 1}


def test_nothing_runs_and_nothing_is_fetched(reader):
    with ChangingSite().served() as site:
        asked = []
        site_url = site.url
        reader._page.on("request", lambda request: asked.append(request.url))
        html = (
            f"<script>document.title='ran'</script><img src='{site_url}/x.png' onerror='ran=1'>"
            f"<iframe src='{site_url}'></iframe><link rel=stylesheet href='{site_url}/x.css'>"
            "<svg onload='ran=1'></svg>"
        )
        assert reader.look(html, css("script")).count == 1
        reader._page.wait_for_timeout(200)

    assert asked == []
    assert reader._page.evaluate("[document.title, typeof ran]") == ["", "undefined"]


@pytest.mark.parametrize(
    "html",
    [
        "<div class='" + " ".join(f"n{n}" for n in range(200_000)) + "'>",
        "<p " + " ".join(f"a{n}=1" for n in range(50_000)) + ">",
        f"<p class={'x' * 4_000_000}>",
        "<p class=a>" * 450_000,
    ],
    ids=["classes", "attributes", "long", "many"],
)
def test_two_megabytes_of_anything_are_read_in_time(reader, html):
    began = time.monotonic()
    found = reader.look(html[:2_000_000], css(".a"))

    assert time.monotonic() - began < 6.0
    assert len(found.names) <= MAX_NAMES
    assert all(len(name) <= MAX_NAME + 20 for name in found.names)


@pytest.mark.parametrize(
    "selector",
    ["", "[[", "a:has-text('x')", "\x00", "}{", "😀", "*" * 300, ":not(" * 60, "a,", "\\"],
)
def test_a_hostile_selector_has_no_count_or_a_right_one(reader, selector):
    found = reader.look("<p class=a>", css(selector))

    assert found.count in (None, 0)
    assert reader.look("<p>", FailedSelector("xpath", selector)).count in (None, 0)


def test_the_text_of_an_element_is_one_short_line(reader):
    html = f"<p class=a>\n one\n\n two {'x' * 10_000}</p>"

    assert reader.text_of(html, ".a").startswith("one two xxx")
    assert len(reader.text_of(html, ".a")) == 80
    assert reader.text_of(html, ".b") == ""
    assert reader.text_of(html, "[[") == ""


@pytest.mark.parametrize(
    ("html", "selector"),
    [
        ("<div>" * 500 + "<i></i>" * 200_000, ":has(i + i)" * 25 + " ~ b"),
        # Chromium's own parser takes minutes for that.
        ("<div class=x>" * 150_000, ".x"),
    ],
    ids=["selector", "depth"],
)
def test_what_never_ends_is_ended_by_the_limit(session, site, html, selector):
    page = session.page_for_job()
    page.goto(site.url("/"))
    began = time.monotonic()
    with session.limit(2.0) as limit:
        try:
            InertReader(page.context.browser).look(html, css(selector))
        except PlaywrightError:
            assert limit.fired

    assert time.monotonic() - began < 7.0
    session.page_for_job().goto(site.url("/"))
