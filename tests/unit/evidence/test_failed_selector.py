"""The selector that failed is read off Playwright's message, where HTML alone can answer it."""

from __future__ import annotations

import time

import pytest

from worker.evidence.failed_selector import MAX_SELECTOR, FailedSelector, find

LOG = "Locator.inner_text: Timeout 30000ms exceeded.\nCall log:\n  - waiting for {}\n"


@pytest.mark.parametrize(
    ("written", "kind", "text"),
    [
        ('locator(".price")', "css", ".price"),
        ('locator(".price").first', "css", ".price"),
        ('locator(".price").nth(-2)', "css", ".price"),
        ('locator("#buy > a[href=\\"/x\\"]") to be visible', "css", '#buy > a[href="/x"]'),
        ('locator("css=.price")', "css", ".price"),
        ('locator("id=buy")', "css", '[id="buy"]'),
        ('get_by_test_id("buy \\"now\\"")', "css", '[data-testid="buy \\"now\\""]'),
        ('locator("//h1")', "xpath", "//h1"),
        ("locator(\"xpath=//h1[@id='a']\")", "xpath", "//h1[@id='a']"),
    ],
)
def test_what_was_waited_for(written, kind, text):
    assert find(LOG.format(written)) == FailedSelector(kind, text)


def test_what_matched_too_much():
    message = (
        'Locator.click: Error: strict mode violation: locator(".buy") resolved to 2 elements:\n'
        '    1) <a class="buy">waiting for locator(".other")</a>\n'
    )

    assert find(message) == FailedSelector("css", ".buy")


def test_an_expectation_names_it_too():
    message = (
        "Locator expected to be visible\nActual value: None\nError: element(s) not found\n"
        'Call log:\n  - Expect "to_be_visible" with timeout 5000ms\n  - waiting for locator(".x")\n'
    )

    assert find(message) == FailedSelector("css", ".x")


@pytest.mark.parametrize(
    "message",
    [
        'field "price": nothing on http://shop.test/?t=[redacted] matches .price',
        "step 2, expect: expected .price on http://shop.test/, and it is not there",
    ],
)
def test_the_built_in_tasks_name_it_too(message):
    assert find(message) == FailedSelector("css", ".price")


@pytest.mark.parametrize(
    "written",
    [
        'locator("text=Buy")',
        "locator(\"'Buy'\")",
        'locator("a >> b")',
        'locator("a:has-text(\\"Buy\\")")',
        'locator("a:visible")',
        'locator("_react=Cart")',
        'locator(".row").locator(".price")',
        'locator(".row").get_by_text("x")',
        'frame_locator("iframe").locator(".price")',
        'get_by_role("button", name="Buy")',
        'get_by_text("Buy")',
        'locator("")',
        f'locator("{"a" * (MAX_SELECTOR + 1)}")',
        'locator("cut off',
        "navigation until 'load'",
    ],
)
def test_what_needs_a_living_page_has_no_answer(written):
    assert find(LOG.format(written)) is None


def test_an_error_without_any_has_no_answer():
    assert find("HTTP 404") is None
    assert find("") is None


@pytest.mark.parametrize("part", ['waiting for locator("', "\\", 'locator("x").first', ".nth("])
def test_a_hostile_message_is_read_in_no_time(part):
    began = time.monotonic()
    find(part * 1_000_000)
    find('waiting for locator("' + part * 1_000_000)

    assert time.monotonic() - began < 0.5
