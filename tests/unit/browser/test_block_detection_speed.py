"""Whatever a page says, reading it takes no longer than a moment: the worker cannot be held up."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Error as PlaywrightError

from worker.browser.block_detection import challenge_reason
from worker.browser.failures import classify
from worker.evidence.fingerprint import fingerprint
from worker.tasks.extract import parse_number

SIZE = 1_000_000
SECONDS = 0.05


def of(text: str) -> str:
    """A megabyte of a text."""
    return text * (SIZE // len(text))


HTML = [
    *("<meta", "<meta ", "<meta<", "<meta content-security-policy ", "<", "<meta x>", "_cf_chl_op"),
    *("/cdn-cgi/challenge-platform/scripts/jsd/", "/cdn-cgi/challenge-platform", "<META a='>'"),
]
MESSAGES = [
    *("Timeout 1", "Timeout: ", "Timeout " + " " * 5000, "Call log:", "net::ERR_", "page has "),
    *("a", "a.", "a+", "a://", "A.a", "waiting for get_by_", "waiting for locator("),
    *("waiting for locator(" + " " * 5000, " ", "\n", "0", "0x", "1.", "1 ", "deadbeef", "HTTP 4"),
    *("'", " 'a", " 'a' ", '"', '\\"', '"\\', "\\", "`", "«", "»", "„", "“", "‘", "‘a’b", "got 'a"),
    *("locator(", "locator(()", "locator((", "selector '", 'selector "', "00000000-0000-"),
    *("waiting for locator(x) to be ", "has been closed ", "(", "http:", "a-a-a:"),
]


def least_seconds(work: Callable[[], object]) -> float:
    """How much of the processor it takes: the best of a few times."""
    times = []
    for _ in range(5):
        began = time.thread_time()
        work()
        times.append(time.thread_time() - began)
        if times[-1] < SECONDS:
            break
    return min(times)


@pytest.mark.parametrize("text", HTML)
def test_a_hostile_page_is_searched_for_a_challenge_in_no_time(text):
    html = of(text)

    assert least_seconds(lambda: challenge_reason(403, {}, html, html)) < SECONDS


def test_a_challenge_is_found_in_a_large_page():
    html = "<html><script>window._cf_chl_opt={}</script>" + of("<meta")

    assert challenge_reason(403, {}, "", html) is not None


@pytest.mark.parametrize("text", MESSAGES)
def test_a_hostile_message_is_classified_in_no_time(text):
    for message in (of(text), f"Call log:{of(text)}", f"{of(text)}Call log:"):
        for error in (PlaywrightError(message), AssertionError(message)):
            assert least_seconds(lambda error=error: classify(error)) < SECONDS


@pytest.mark.parametrize("text", MESSAGES)
@pytest.mark.parametrize("before", ["", "Page.click: ", "waiting for locator('x", "TypeError: '"])
def test_a_hostile_message_is_grouped_in_no_time(text, before):
    message = before + of(text)

    for kind in ("Error", "KeyError", "TypeError"):
        assert least_seconds(lambda kind=kind: fingerprint(kind, message, "visit", [])) < SECONDS


@pytest.mark.parametrize("text", ["1", "1.", "1,", "1 ", "-", "1'", " ", "-1"])
def test_a_hostile_number_is_read_in_no_time(text):
    assert least_seconds(lambda: parse_number(of(text))) < SECONDS
