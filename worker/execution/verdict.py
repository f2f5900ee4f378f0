"""What happened to a job whose task raised: one table, read from the top.

The reason is one line for people. Where the job goes from there is decided by
`queue/settlements.py`.
"""

from __future__ import annotations

import math
from dataclasses import replace

from worker.browser.failures import Diagnosis, Kind, classify
from worker.errors import (
    Blocked,
    ClaimLost,
    DatabaseUnavailable,
    Fail,
    JobTimedOut,
    LaunchFailed,
    LeaseLost,
    PageRefused,
    PayloadError,
    ProviderError,
    ProxyUnavailable,
    Retry,
    SiteFailed,
    StepTaken,
    TaskNotFound,
    message_of,
)
from worker.models import Cause, Claim, Ending, Outcome
from worker.system.scarcity import is_scarcity

# Nobody means more, and no server's clock knows every year.
LONGEST_WAIT_SECONDS = 365 * 86400.0

# Refused by the proxy: it may be of no use, or the site behind it may be dead.
TUNNEL_FAULT = "ERR_TUNNEL_CONNECTION_FAILED"
# Our contexts hold no login for a site, so it is the proxy's that is refused.
CREDENTIALS_FAULT = "ERR_INVALID_AUTH_CREDENTIALS"
PROXY_FAULTS = {
    CREDENTIALS_FAULT,
    TUNNEL_FAULT,
    "ERR_PROXY_CONNECTION_FAILED",
    "ERR_PROXY_CERTIFICATE_INVALID",
    "ERR_SOCKS_CONNECTION_FAILED",
    "ERR_MANDATORY_PROXY_CONFIGURATION_FAILED",
    "ERR_NO_SUPPORTED_PROXIES",
}

SELF_EXPLAINING = (
    Blocked,
    Retry,
    Fail,
    PageRefused,
    PayloadError,
    ProviderError,
    ProxyUnavailable,
    StepTaken,
    TaskNotFound,
    JobTimedOut,
)

# A profile that is busy elsewhere is looked at again after this time.
PROVIDER_SECONDS = 30.0
# What passes by itself: somebody has the profile, or its provider wants time.
BUSY_KINDS = ("already_running", "locked", "preparing", "throttled")


def judge(
    error: BaseException,
    diagnosis: Diagnosis | None = None,
    *,
    retry_on: tuple[type[BaseException], ...] = (),
    has_document: bool = False,
) -> Ending:
    """Decide over a failed attempt by what its task raised; `retry_on` is the task's own list.

    `has_document` says that the site has answered well with a page. Then a timeout within the
    page, such as for a selector, is the task's fault and not the site's.
    """
    diagnosis = diagnosis or classify(error)
    reason = describe(error)
    if (said := _by_word(error, reason)) is not None:
        return said
    if is_scarcity(error):
        return Ending(Outcome.RETRY, reason, Cause.POOL)
    if isinstance(error, retry_on):
        return Ending(Outcome.RETRY, reason, Cause.CODE)
    if (code := proxy_fault(diagnosis)) is not None and code != TUNNEL_FAULT:
        return Ending(Outcome.RETRY, reason, Cause.PROXY)
    if diagnosis.kind is Kind.TIMEOUT and has_document and not diagnosis.is_navigation:
        return Ending(Outcome.RETRY, reason, Cause.CODE)
    return _by_kind(diagnosis.kind, reason)


def is_plain_failure(claim: Claim, ending: Ending) -> bool:
    """Tell whether a failure was the task's own affair, after which nothing is left to put right.

    No breaker, proxy, profile or browser is to be told of it before another job is claimed.
    """
    is_own = claim.canary is None and claim.lease_fence is None and ending.irreversible_step is None
    is_tasks = ending.outcome in (Outcome.ERROR, Outcome.RETRY)
    return is_own and is_tasks and ending.cause in (None, Cause.CODE)


def _by_word(error: BaseException, reason: str) -> Ending | None:
    """Judge what says itself how the job goes on: a task's signal, or an error of our own."""
    match error:
        case JobTimedOut(__cause__=DatabaseUnavailable()):
            # Its time ran out while an irreversible step waited to be written.
            return Ending(Outcome.HANDED_BACK, str(error.__cause__), Cause.POOL)
        case JobTimedOut():
            return Ending(Outcome.TIMED_OUT, reason, Cause.CODE)
        case Blocked():
            return _ending(Outcome.BLOCKED, f"blocked: {reason}", Cause.SITE, error.after)
        case Retry():
            cause = Cause.SITE if isinstance(error, SiteFailed) else Cause.CODE
            return _ending(Outcome.RETRY, reason, cause, error.after)
        case Fail() | StepTaken():
            # Its task gave the job up on purpose, or was kept from doing it twice: nobody is at
            # fault.
            return Ending(Outcome.ERROR, reason)
        case PageRefused() | PayloadError() | TaskNotFound():
            return Ending(Outcome.ERROR, reason, Cause.CODE)
        case DatabaseUnavailable() | ClaimLost() | LeaseLost():
            return Ending(Outcome.HANDED_BACK, reason, Cause.POOL)
        case LaunchFailed() | ProxyUnavailable() | ProviderError():
            return _without_browser(error, reason)
    return None


def _by_kind(kind: Kind, reason: str) -> Ending:
    match kind:
        case Kind.TIMEOUT | Kind.NETWORK:
            return Ending(Outcome.RETRY, reason, Cause.SITE)
        case Kind.CRASHED | Kind.CLOSED | Kind.DRIVER_GONE:
            return Ending(Outcome.CRASHED, reason, Cause.POOL)
    return Ending(Outcome.ERROR, reason, Cause.CODE)


def _without_browser(error: LaunchFailed | ProxyUnavailable | ProviderError, reason: str) -> Ending:
    """What was busy or absent before the task began costs no attempt."""
    match error:
        case LaunchFailed():
            return Ending(Outcome.HANDED_BACK, reason, Cause.POOL)
        case ProxyUnavailable():
            return _ending(Outcome.HANDED_BACK, reason, Cause.PROXY, error.after)
        case ProviderError(kind="missing" | "shared"):
            # Its profile waits for a person, and so does the job.
            return Ending(Outcome.HANDED_BACK, reason, Cause.PROFILE)
    is_busy = error.kind in BUSY_KINDS
    cause = Cause.CONTENTION if is_busy else Cause.PROFILE
    after = error.retry_after or PROVIDER_SECONDS
    return replace(_ending(Outcome.HANDED_BACK, reason, cause, after), rests_profile=True)


def _ending(outcome: Outcome, reason: str, cause: Cause, after: float | None) -> Ending:
    """Describe an ending after which somebody has said how long to wait."""
    seconds = _usable(after)
    if seconds is None and after is not None:
        reason += " (its `after` is no number of seconds: it waits as usual)"
    return Ending(outcome, reason, cause, delay_seconds=seconds, retry_after_seconds=seconds)


def _usable(after: object) -> float | None:
    """Read how long to wait from what a task, or a site through it, has given."""
    is_number = isinstance(after, int | float) and not isinstance(after, bool)
    if not is_number or after in (math.inf, -math.inf) or after != after:
        return None
    return float(min(max(after, 0), LONGEST_WAIT_SECONDS))  # type: ignore[call-overload]


def proxy_fault(diagnosis: Diagnosis) -> str | None:
    """Return Chromium's code for what went wrong between it and a proxy, or None."""
    code = diagnosis.code
    return code if code and (code in PROXY_FAULTS or is_login_fault(code)) else None


def is_login_fault(code: str) -> bool:
    """Tell whether Chromium's code means that a proxy refuses the login."""
    return code == CREDENTIALS_FAULT or "_PROXY_AUTH_" in code


def describe(error: BaseException) -> str:
    """Say in one line what was raised; a signal or an error of ours speaks for itself."""
    text = " ".join(message_of(error).split("Call log:")[0].split())
    if isinstance(error, SELF_EXPLAINING):
        return text or type(error).__name__
    kind = type(error).__name__
    if not text:
        return kind
    # Playwright's plain `Error` says nothing that its message does not.
    return text if kind == "Error" else f"{kind}: {text}"
