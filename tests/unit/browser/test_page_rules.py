"""Where a page may be is told from its address, however it is written."""

from __future__ import annotations

import pytest

from worker.browser.page_rules import PageRules


@pytest.mark.parametrize(
    "url",
    [
        *("http://a.example/", "HTTPS://A.example", "data:text/html,x", "blob:http://a.example/1"),
        *("about:blank", "about:blank#blocked", "about:blank?x", "about:srcdoc", "ABOUT:BLANK"),
        # Relative to the page, or completed by Playwright.
        *("/path", "page?file:///etc/passwd", "", "localhost:8000/x", "127.0.0.1:8000"),
        # Where Chromium puts a page that it could not load.
        "chrome-error://chromewebdata/",
    ],
)
def test_the_web_is_open(url):
    assert PageRules().why_not(url) is None


@pytest.mark.parametrize(
    "url",
    [
        *("file:///etc/passwd", "FILE:/x", " \tfile:///x", "f\nile:///x", "\x00file:x"),
        *("view-source:http://a.example/", "chrome://version", "about:version", "about:config"),
        *("javascript:alert(1)", "ftp://a.example/", "mailto:a@b.example", "about:blankfile:///x"),
        " " * 10_000 + "file:///etc/passwd",
    ],
)
def test_everything_else_is_shut(url):
    reason = PageRules().why_not(url)

    assert reason is not None
    assert "pages may go to http, https, data, blob and about:blank" in reason
    assert len(reason) < 600
    assert "\n" not in reason


def test_a_task_opens_what_it_names_and_nothing_more():
    rules = PageRules(schemes=("file",))

    assert rules.why_not("file:///etc/passwd") is None
    assert "http, https, data, blob, file and" in (rules.why_not("chrome://version") or "")


def test_a_refusal_repeats_no_secret():
    assert "hunter2" not in (PageRules().why_not("ftp://owl:hunter2@a.example/") or "")
