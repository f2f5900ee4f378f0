"""What happens to a job by what its task raised: the design's table, row by row."""

from __future__ import annotations

import errno

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
from worker.verdict import describe, judge

NET = PlaywrightError("Page.goto: net::ERR_CONNECTION_REFUSED at http://127.0.0.1:1/")
WAITED = AssertionError("Locator expected to be visible\nTimeout: 5000ms\nCall log:\n - waiting")

TABLE = [
    (Blocked("a challenge"), Outcome.BLOCKED),
    (Retry("not yet"), Outcome.RETRY),
    (PlaywrightTimeout("Timeout 30000ms exceeded."), Outcome.RETRY),
    (NET, Outcome.RETRY),
    (WAITED, Outcome.RETRY),
    (JobTimedOut(600), Outcome.TIMED_OUT),
    (PlaywrightError("Page.click: Target crashed"), Outcome.CRASHED),
    (PlaywrightError("Page crashed"), Outcome.CRASHED),
    (
        PlaywrightError("Target page, context or browser has been closed"),
        Outcome.CRASHED,
    ),
    (
        PlaywrightError("Connection closed while reading from the driver"),
        Outcome.CRASHED,
    ),
    (LaunchFailed("no browser"), Outcome.HANDED_BACK),
    (MemoryError(), Outcome.RETRY),
    (OSError(errno.ENOSPC, "No space left on device"), Outcome.RETRY),
    (OSError(errno.ENOENT, "No such file"), Outcome.ERROR),
    (Fail("gone for good"), Outcome.ERROR),
    (PayloadError('needs "url"'), Outcome.ERROR),
    (TaskNotFound("no task named 'x'"), Outcome.ERROR),
    (KeyError("price"), Outcome.ERROR),
    (AssertionError("2 != 3"), Outcome.ERROR),
    (PlaywrightError("Unknown engine in selector"), Outcome.ERROR),
    (SystemExit(1), Outcome.ERROR),
    (RecursionError("maximum recursion depth exceeded"), Outcome.ERROR),
]


@pytest.mark.parametrize(("error", "outcome"), TABLE, ids=[repr(row[0])[:40] for row in TABLE])
def test_what_was_raised_decides_the_way(error, outcome):
    verdict = judge(error)
    assert verdict.outcome is outcome
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
