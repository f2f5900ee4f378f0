"""A job whose browser elsewhere was lost is handed back, unless it may have killed it too often."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace

import pytest
from playwright.sync_api import Error as PlaywrightError

from worker.errors import Blocked, Fail, JobTimedOut, PageRefused, Retry
from worker.execution.browser_loss import LOST, MOST_LOSSES, of_lost_browser
from worker.models import Cause, Outcome

CLAIM = SimpleNamespace(job_id=1)
CLOSED = PlaywrightError("Page.title: Target page, context or browser has been closed")


def judged(error, *, answers=False, is_gone=False, losses=0, is_elsewhere=True):
    """Judge an error with a browser that answers or not, at an endpoint that is there or not."""
    remote = SimpleNamespace(label="ws://a", answers=lambda: answers, is_gone=is_gone)
    session = SimpleNamespace(
        remote=remote if is_elsewhere else None,
        is_alive=True,
        limit=lambda _: nullcontext(),
    )
    db = SimpleNamespace(
        patience_seconds=0,
        patience=lambda _: nullcontext(),
        fetch_one=lambda *_, **__: {"losses": losses},
    )
    return of_lost_browser(db, session, CLAIM, error)


@pytest.mark.parametrize("error", [CLOSED, ValueError("caught and wrapped"), Retry("it broke")])
def test_a_lost_browser_costs_no_attempt(error):
    ending = judged(error, is_gone=True, losses=99)

    assert (ending.outcome, ending.cause) == (Outcome.HANDED_BACK, Cause.POOL)
    assert ending.reason == f"{LOST} (ws://a)"


@pytest.mark.parametrize("error", [Fail("no"), Blocked(), PageRefused("too much written")])
def test_what_says_itself_why_is_taken_at_its_word(error):
    assert judged(error, is_gone=True) is None


def test_a_browser_that_answers_is_not_lost():
    assert judged(CLOSED, answers=True) is None


def test_a_browser_of_this_machine_is_judged_as_ever():
    assert judged(CLOSED, is_elsewhere=False) is None


def test_where_the_endpoint_is_well_losses_are_forgiven_a_few_times_only():
    assert judged(CLOSED, losses=MOST_LOSSES - 1).outcome is Outcome.HANDED_BACK
    assert judged(CLOSED, losses=MOST_LOSSES) is None


def test_a_time_out_counts_unless_the_endpoint_has_vanished():
    assert judged(JobTimedOut(10)) is None
    assert "does not answer" in judged(JobTimedOut(10), is_gone=True).reason
