"""An exception tells what kind of trouble it was, by its type and its words."""

from __future__ import annotations

import pytest
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from worker.browser.failures import Kind, classify


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (PlaywrightTimeout("Page.goto: Timeout 30000ms exceeded."), Kind.TIMEOUT),
        (AssertionError("Locator expected to be visible\nTimeout: 5000ms\nCall log:\n  - x"),
         Kind.TIMEOUT),
        (PlaywrightError("Page.screenshot: Target crashed "), Kind.CRASHED),
        (PlaywrightError("Page crashed"), Kind.CRASHED),
        (PlaywrightError("Page.title: Target page, context or browser has been closed"),
         Kind.CLOSED),
        (PlaywrightError("Playwright connection closed"), Kind.DRIVER_GONE),
        (PlaywrightError("Event loop is closed! Is Playwright already stopped?"),
         Kind.DRIVER_GONE),
        (PlaywrightError("Page.evaluate: ReferenceError: x is not defined"), Kind.OTHER),
        (AssertionError("assert 1 == 2"), Kind.OTHER),
        (TimeoutError("not Playwright's"), Kind.OTHER),
        (ValueError("net::ERR_FAILED"), Kind.OTHER),
    ],
)  # fmt: skip
def test_trouble_is_told_apart(error: BaseException, kind: Kind):
    assert classify(error).kind is kind


def test_a_network_error_keeps_its_code():
    error = PlaywrightError("Page.goto: net::ERR_CONNECTION_REFUSED at http://127.0.0.1:1/")

    assert classify(error).kind is Kind.NETWORK
    assert classify(error).code == "ERR_CONNECTION_REFUSED"


@pytest.mark.parametrize(
    "error",
    [
        PlaywrightTimeout("Page.wait_for_selector: Timeout 30000ms exceeded."),
        AssertionError("Locator expected to be visible\nTimeout: 5000ms\nCall log:\n  - x"),
        PlaywrightError("Page.goto: net::ERR_ABORTED at http://127.0.0.1:1/"),
        PlaywrightError("Page.goto: Page crashed"),
    ],
)
def test_what_fails_on_a_crashed_page_is_the_browsers_trouble(error: BaseException):
    diagnosis = classify(error, page_crashed=True)

    assert diagnosis.kind is Kind.CRASHED
    assert diagnosis.code is None


def test_a_tasks_own_error_on_a_crashed_page_stays_its_own():
    assert classify(ValueError("no price"), page_crashed=True).kind is Kind.OTHER


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("Page.goto: NS_ERROR_CONNECTION_REFUSED", "NS_ERROR_CONNECTION_REFUSED"),
        ("Page.goto: NS_BINDING_ABORTED", "NS_BINDING_ABORTED"),
        ("Page.goto: Could not connect to 127.0.0.1: Connection refused", None),
    ],
)
def test_other_browsers_words_for_a_network_error_are_known(message: str, code: str | None):
    diagnosis = classify(PlaywrightError(message))

    assert (diagnosis.kind, diagnosis.code) == (Kind.NETWORK, code)


def test_such_words_elsewhere_are_no_network_error():
    error = PlaywrightError("Page.evaluate: Error: Could not connect to the shop's own socket")

    assert classify(error).kind is Kind.OTHER
