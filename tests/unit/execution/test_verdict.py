"""What happens to a job by what its task raised: the design's table, row by row."""

from __future__ import annotations

import errno
from dataclasses import replace
from typing import get_args

import pytest
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from worker.browser.failures import classify
from worker.errors import (
    Blocked,
    ClaimLost,
    DatabaseUnavailable,
    Fail,
    JobTimedOut,
    LaunchFailed,
    LeaseLost,
    PayloadError,
    ProviderError,
    ProviderTrouble,
    ProxyUnavailable,
    Retry,
    SiteFailed,
    TaskNotFound,
)
from worker.execution.verdict import (
    PROVIDER_SECONDS,
    describe,
    is_plain_failure,
    judge,
    proxy_fault,
)
from worker.models import Cause, Claim, Ending, Outcome
from worker.recovery.obituary import ending_of

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
    (DatabaseUnavailable("it is away"), Outcome.HANDED_BACK),
    (ClaimLost(7, 1), Outcome.HANDED_BACK),
    (ProxyUnavailable("all 3 proxies cool down"), Outcome.HANDED_BACK),
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
    ending = judge(error)
    assert ending.outcome is outcome
    assert ending.reason
    assert "\n" not in ending.reason


def test_a_task_may_say_when_to_try_again():
    assert judge(Retry("busy", after=7)).delay_seconds == 7
    assert judge(Blocked("busy", after=8)).delay_seconds == 8
    assert judge(Retry("busy", after=0)).delay_seconds == 0
    assert judge(Retry("busy")).delay_seconds is None
    assert judge(ProxyUnavailable("it cools down", after=9)).delay_seconds == 9


@pytest.mark.parametrize(
    ("code", "is_proxys"),
    [
        ("ERR_PROXY_CONNECTION_FAILED", True),
        ("ERR_TUNNEL_CONNECTION_FAILED", True),
        ("ERR_SOCKS_CONNECTION_FAILED", True),
        ("ERR_PROXY_AUTH_REQUESTED", True),
        ("ERR_PROXY_AUTH_UNSUPPORTED", True),
        ("ERR_SOCKS_CONNECTION_HOST_UNREACHABLE", False),
        # A site's own 407, where no proxy could have answered so.
        ("ERR_UNEXPECTED_PROXY_AUTH", False),
        ("ERR_CONNECTION_RESET", False),
    ],
)
def test_a_proxys_own_failure_is_told_from_a_sites(code, is_proxys):
    error = PlaywrightError(f"Page.goto: net::{code} at http://a.example/")
    assert (proxy_fault(classify(error)) == code) is is_proxys
    assert proxy_fault(classify(ValueError(f"net::{code}"))) is None


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


def provider_error(kind: str) -> ProviderError:
    return ProviderError("not now", provider="kameleo", kind=kind)  # type: ignore[arg-type]


def network(code: str) -> PlaywrightError:
    return PlaywrightError(f"Page.goto: net::{code} at http://127.0.0.1:1/")


CAUSES = [
    (Fail("gone for good"), None),
    (Retry("not yet"), Cause.CODE),
    (SiteFailed("HTTP 503"), Cause.SITE),
    (PayloadError('needs "url"'), Cause.CODE),
    (TaskNotFound("no task named 'x'"), Cause.CODE),
    (KeyError("price"), Cause.CODE),
    (JobTimedOut(600), Cause.CODE),
    (SystemExit(1), Cause.CODE),
    (Blocked("a challenge"), Cause.SITE),
    (NET, Cause.SITE),
    (WAITED, Cause.SITE),
    (PlaywrightTimeout("Timeout 30000ms exceeded."), Cause.SITE),
    # A tunnel that is refused may be the proxy's fault or the site's: whoever knows more decides.
    (network("ERR_TUNNEL_CONNECTION_FAILED"), Cause.SITE),
    (network("ERR_PROXY_CONNECTION_FAILED"), Cause.PROXY),
    (network("ERR_SOCKS_CONNECTION_FAILED"), Cause.PROXY),
    (ProxyUnavailable("all cool down"), Cause.PROXY),
    (provider_error("refused"), Cause.PROFILE),
    (provider_error("unreachable"), Cause.PROFILE),
    (provider_error("bad_answer"), Cause.PROFILE),
    (provider_error("already_running"), Cause.CONTENTION),
    (provider_error("locked"), Cause.CONTENTION),
    (provider_error("preparing"), Cause.CONTENTION),
    (provider_error("throttled"), Cause.CONTENTION),
    (LaunchFailed("no browser"), Cause.POOL),
    (PlaywrightError("Page crashed"), Cause.POOL),
    (PlaywrightError("Connection closed while reading from the driver"), Cause.POOL),
    (MemoryError(), Cause.POOL),
    (OSError(errno.ENOSPC, "No space left on device"), Cause.POOL),
]


@pytest.mark.parametrize(("error", "cause"), CAUSES, ids=[repr(row[0])[:60] for row in CAUSES])
def test_what_was_raised_tells_who_is_at_fault(error, cause):
    assert judge(error).cause is cause


def test_every_cause_can_be_told():
    assert {cause for _, cause in CAUSES} == {*Cause, None}


def test_contention_costs_no_attempt():
    for error, cause in CAUSES:
        if cause is Cause.CONTENTION:
            assert judge(error).outcome is Outcome.HANDED_BACK


@pytest.mark.parametrize("kind", sorted(get_args(ProviderTrouble)))
def test_a_browser_that_its_provider_did_not_give_costs_no_attempt(kind):
    ending = judge(provider_error(kind))

    assert ending.outcome is Outcome.HANDED_BACK
    # A profile that has lost something waits for a person, not for a time.
    is_for_person = kind in ("missing", "shared")
    assert ending.rests_profile != is_for_person
    assert ending.delay_seconds == (None if is_for_person else PROVIDER_SECONDS)


def test_a_vendor_says_itself_when_to_come_back():
    error = ProviderError("slow down", provider="x", kind="throttled", retry_after=77.0)

    assert judge(error).delay_seconds == 77


def test_a_lost_lease_costs_no_attempt():
    ending = judge(LeaseLost("p1", 3))

    assert (ending.outcome, ending.cause) == (Outcome.HANDED_BACK, Cause.POOL)


@pytest.mark.parametrize(
    ("outcome", "cause"),
    [
        (Outcome.CRASHED, Cause.POOL),
        (Outcome.HANDED_BACK, Cause.POOL),
        (Outcome.TIMED_OUT, Cause.CODE),
    ],
)
def test_a_death_that_nobody_could_look_into_has_a_cause_too(outcome, cause):
    death = {"outcome": outcome.value, "ending": "killed", "step": ""}
    assert ending_of(death).cause is cause


def test_a_job_that_waited_out_its_time_for_the_database_is_handed_back():
    late = JobTimedOut(600)
    late.__cause__ = DatabaseUnavailable("it is away")

    ending = judge(late)

    assert (ending.outcome, ending.cause) == (Outcome.HANDED_BACK, Cause.POOL)
    assert ending.reason == "it is away"


CLAIM = Claim(1, 1, 7, 1, 4, "visit", "{}")


@pytest.mark.parametrize(
    "error", [Fail("gone for good"), Retry("not yet"), KeyError("price"), PayloadError("no url")]
)
def test_after_a_tasks_own_failure_there_is_nothing_to_put_right(error):
    assert is_plain_failure(CLAIM, judge(error))


@pytest.mark.parametrize(
    "error",
    [
        Blocked("a challenge"),
        SiteFailed("HTTP 500"),
        NET,
        JobTimedOut(600),
        MemoryError(),
        PlaywrightError("Page crashed"),
        LaunchFailed("no browser"),
        ProxyUnavailable("all 3 proxies cool down"),
        ProviderError("slow down", provider="vendor", kind="throttled"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_breakers_proxies_profiles_and_browsers_are_put_right_before_the_next_claim(error):
    assert not is_plain_failure(CLAIM, judge(error))


@pytest.mark.parametrize("special", [{"canary": "site:example.com"}, {"lease_fence": 3}])
def test_so_are_the_key_of_a_canary_and_a_profile_that_was_used(special):
    assert not is_plain_failure(replace(CLAIM, **special), judge(KeyError("price")))


def test_a_job_that_may_be_half_done_is_settled_by_itself():
    ending = Ending(Outcome.ERROR, "lost", Cause.CODE, irreversible_step="pay")

    assert not is_plain_failure(CLAIM, ending)
