"""What happens to a job by what its task raised: the design's table, row by row."""

from __future__ import annotations

import pytest
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from worker.errors import (
    Blocked,
    Fail,
    JobTimedOut,
    LaunchFailed,
    PayloadError,
    Retry,
    TaskNotFound,
)
from worker.models import Outcome
from worker.verdict import Course, describe, judge

NET = PlaywrightError("Page.goto: net::ERR_CONNECTION_REFUSED at http://127.0.0.1:1/")
WAITED = AssertionError("Locator expected to be visible\nTimeout: 5000ms\nCall log:\n - waiting")

TABLE = [
    (Blocked("a challenge"), Course.RETRY, Outcome.BLOCKED),
    (Retry("not yet"), Course.RETRY, Outcome.RETRY),
    (PlaywrightTimeout("Timeout 30000ms exceeded."), Course.RETRY, Outcome.RETRY),
    (NET, Course.RETRY, Outcome.RETRY),
    (WAITED, Course.RETRY, Outcome.RETRY),
    (JobTimedOut(600), Course.RETRY, Outcome.TIMED_OUT),
    (PlaywrightError("Page.click: Target crashed"), Course.CRASH, Outcome.CRASHED),
    (PlaywrightError("Page crashed"), Course.CRASH, Outcome.CRASHED),
    (
        PlaywrightError("Target page, context or browser has been closed"),
        Course.CRASH,
        Outcome.CRASHED,
    ),
    (
        PlaywrightError("Connection closed while reading from the driver"),
        Course.CRASH,
        Outcome.CRASHED,
    ),
    (LaunchFailed("no browser"), Course.HAND_BACK, Outcome.HANDED_BACK),
    (Fail("gone for good"), Course.FAIL, Outcome.ERROR),
    (PayloadError('needs "url"'), Course.FAIL, Outcome.ERROR),
    (TaskNotFound("no task named 'x'"), Course.FAIL, Outcome.ERROR),
    (KeyError("price"), Course.FAIL, Outcome.ERROR),
    (AssertionError("2 != 3"), Course.FAIL, Outcome.ERROR),
    (PlaywrightError("Unknown engine in selector"), Course.FAIL, Outcome.ERROR),
    (SystemExit(1), Course.FAIL, Outcome.ERROR),
    (RecursionError("maximum recursion depth exceeded"), Course.FAIL, Outcome.ERROR),
]


@pytest.mark.parametrize(
    ("error", "course", "outcome"), TABLE, ids=[repr(row[0])[:40] for row in TABLE]
)
def test_what_was_raised_decides_the_way(error, course, outcome):
    verdict = judge(error)
    assert (verdict.course, verdict.outcome) == (course, outcome)
    assert verdict.reason
    assert "\n" not in verdict.reason


def test_a_task_may_say_when_to_try_again():
    assert judge(Retry("busy", after=7)).after_seconds == 7
    assert judge(Blocked("busy", after=8)).after_seconds == 8
    assert judge(Retry("busy", after=0)).after_seconds == 0
    assert judge(Retry("busy")).after_seconds is None


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (Fail("no stock"), "no stock"),
        (Blocked(), "blocked by the site"),
        (JobTimedOut(2.5), "job ran past its timeout of 2.5 s"),
        (KeyError("price"), "KeyError: 'price'"),
        (ValueError(), "ValueError"),
        (Retry(""), "Retry"),
        (ValueError("two\n  lines"), "ValueError: two lines"),
        (
            PlaywrightTimeout("Timeout 5000ms exceeded.\nCall log:\n  - waiting"),
            "TimeoutError: Timeout 5000ms exceeded.",
        ),
        (NET, "Page.goto: net::ERR_CONNECTION_REFUSED at http://127.0.0.1:1/"),
    ],
)
def test_the_reason_is_one_line_for_people(error, line):
    assert describe(error) == line


def test_a_refusal_says_that_it_is_one():
    assert judge(Blocked("HTTP 403")).reason == "blocked: HTTP 403"
