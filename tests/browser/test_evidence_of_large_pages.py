"""A page however large leaves what there is room and time for."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import TimeoutError as PlaywrightTimeout

from tests.capturing import capture
from worker.browser import evidence


def test_a_huge_page_is_cut(session, site, failure, errors_dir):
    page = session.page_for_job()
    page.goto(site.url("/huge"))
    outcomes = capture(errors_dir, failure, session)

    folder = errors_dir / "4729" / "2"
    assert outcomes["html"] == "ok"
    html = (folder / "page.html").read_bytes()
    assert len(html) < evidence.MAX_HTML + 100
    assert b"cut here" in html[-100:]


def test_a_tall_page_is_pictured_up_to_a_bound(session, site, failure, errors_dir):
    page = session.page_for_job()
    page.goto(site.url("/tall"))
    outcomes = capture(errors_dir, failure, session)

    assert outcomes["screenshot"] == "ok"
    assert size_of(errors_dir / "4729" / "2" / "screenshot.png") == (1920, 20_000)


def test_an_endless_page_is_pictured_as_far_as_it_is_seen_and_costs_nothing_else(
    session, site, failure, errors_dir
):
    page = session.page_for_job()
    # 3 MB: the whole of it would keep the browser from answering for longer than the budget.
    page.goto(site.url("/endless"), timeout=60_000)
    # On a busy machine it is laid out for longer than a capture waits for an answer.
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))")

    outcomes = capture(errors_dir, failure, session)

    folder = errors_dir / "4729" / "2"
    assert outcomes["screenshot"] == outcomes["html"] == "ok"
    assert re.fullmatch(r"skipped: the page is [\d,]+ px high", outcomes["whole_page"])
    assert size_of(folder / "screenshot.png") == (1280, 720)
    assert (folder / "page.html").stat().st_size > 3_000_000
    # Nothing is left for the browser to do.
    assert page.evaluate("1 + 1") == 2


def test_what_can_be_seen_is_kept_where_the_whole_page_cannot_be_taken(
    session, site, failure, errors_dir, monkeypatch
):
    def fail(page):
        raise PlaywrightTimeout("Timeout 5000ms exceeded.")

    monkeypatch.setattr(evidence.failure_screenshot, "take_whole", fail)
    session.page_for_job().goto(site.url("/tall"))

    outcomes = capture(errors_dir, failure, session)

    assert outcomes["screenshot"] == "ok"
    assert outcomes["whole_page"] == "failed: Timeout 5000ms exceeded."
    assert size_of(errors_dir / "4729" / "2" / "screenshot.png") == (1280, 720)


def test_only_as_much_html_is_masked_as_there_is_time_for(
    session, site, failure, errors_dir, monkeypatch
):
    monkeypatch.setattr(evidence, "MASKED_PER_SECOND", 10)
    session.page_for_job().goto(site.url("/huge"))

    capture(errors_dir, failure, session)

    html = (errors_dir / "4729" / "2" / "page.html").read_bytes()
    assert len(html) < 300
    assert b"cut here" in html


def size_of(picture: Path) -> tuple[int, int]:
    header = picture.read_bytes()[16:24]
    return int.from_bytes(header[:4], "big"), int.from_bytes(header[4:], "big")
