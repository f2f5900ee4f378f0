"""What happens to a job whose task raised: one table, read from the top.

The reason is one line for people; who settles and with which delay is the caller's business.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass

from worker.browser.failures import Kind, classify
from worker.errors import (
    Blocked,
    Fail,
    JobTimedOut,
    LaunchFailed,
    PayloadError,
    ProviderError,
    ProxyUnavailable,
    Retry,
    SiteFailed,
    TaskNotFound,
)
from worker.models import Cause, Outcome

# Disk, memory, processes or files ran out: the machine's trouble, which may pass.
SCARCITY = {errno.ENOSPC, errno.EDQUOT, errno.ENOMEM, errno.EAGAIN, errno.EMFILE, errno.ENFILE}

# Refused by the proxy: it may be of no use, or the site behind it may be dead.
TUNNEL_FAULT = "ERR_TUNNEL_CONNECTION_FAILED"
PROXY_FAULTS = {
    TUNNEL_FAULT,
    "ERR_PROXY_CONNECTION_FAILED",
    "ERR_PROXY_CERTIFICATE_INVALID",
    "ERR_SOCKS_CONNECTION_FAILED",
    "ERR_UNEXPECTED_PROXY_AUTH",
    "ERR_MANDATORY_PROXY_CONFIGURATION_FAILED",
    "ERR_NO_SUPPORTED_PROXIES",
    # Our contexts hold no login for a site, so it is the proxy's that is refused.
    "ERR_INVALID_AUTH_CREDENTIALS",
}

SELF_EXPLAINING = (
    Blocked,
    Retry,
    Fail,
    PayloadError,
    ProviderError,
    ProxyUnavailable,
    TaskNotFound,
    JobTimedOut,
)


# A profile that is busy elsewhere is looked at again after so long.
PROVIDER_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """How an attempt ended, and why; the queue knows where the job goes from there."""

    outcome: Outcome
    reason: str
    after_seconds: float | None = None
    cause: Cause = Cause.CODE

    @property
    def blames_site(self) -> bool:
        return self.cause is Cause.SITE

    @property
    def blames_proxy(self) -> bool:
        return self.cause is Cause.PROXY


def judge(error: BaseException, retry_on: tuple[type[BaseException], ...] = ()) -> Verdict:
    """Decide over a failed attempt by what its task raised; `retry_on` is the task's own list."""
    reason = describe(error)
    match error:
        case JobTimedOut():
            return Verdict(Outcome.TIMED_OUT, reason)
        case Blocked():
            return Verdict(Outcome.BLOCKED, f"blocked: {reason}", error.after, Cause.SITE)
        case Retry():
            cause = Cause.SITE if isinstance(error, SiteFailed) else Cause.CODE
            return Verdict(Outcome.RETRY, reason, error.after, cause)
        case Fail() | PayloadError() | TaskNotFound():
            return Verdict(Outcome.ERROR, reason)
        case LaunchFailed() | ProxyUnavailable() | ProviderError():
            return _without_browser(error, reason)
    if _is_scarcity(error):
        return Verdict(Outcome.RETRY, reason, cause=Cause.POOL)
    if isinstance(error, retry_on):
        return Verdict(Outcome.RETRY, reason)
    if (code := proxy_fault(error)) is not None and code != TUNNEL_FAULT:
        return Verdict(Outcome.RETRY, reason, cause=Cause.PROXY)
    return _by_kind(classify(error).kind, reason)


def _by_kind(kind: Kind, reason: str) -> Verdict:
    match kind:
        case Kind.TIMEOUT | Kind.NETWORK:
            return Verdict(Outcome.RETRY, reason, cause=Cause.SITE)
        case Kind.CRASHED | Kind.CLOSED | Kind.DRIVER_GONE:
            return Verdict(Outcome.CRASHED, reason, cause=Cause.POOL)
    return Verdict(Outcome.ERROR, reason)


def _without_browser(
    error: LaunchFailed | ProxyUnavailable | ProviderError, reason: str
) -> Verdict:
    """What was busy or absent before the task began costs no attempt; a bad profile does."""
    match error:
        case LaunchFailed():
            return Verdict(Outcome.HANDED_BACK, reason, cause=Cause.POOL)
        case ProxyUnavailable():
            return Verdict(Outcome.HANDED_BACK, reason, error.after, Cause.PROXY)
        case ProviderError(kind="already_running" | "throttled"):
            after = error.retry_after or PROVIDER_SECONDS
            return Verdict(Outcome.HANDED_BACK, reason, after, Cause.CONTENTION)
    return Verdict(Outcome.RETRY, reason, error.retry_after, Cause.PROFILE)


def proxy_fault(error: BaseException) -> str | None:
    """Return Chromium's code for what went wrong between it and a proxy, or None."""
    code = classify(error).code
    return code if code and (code in PROXY_FAULTS or "_PROXY_AUTH_" in code) else None


def _is_scarcity(error: BaseException) -> bool:
    return isinstance(error, MemoryError) or (
        isinstance(error, OSError) and error.errno in SCARCITY
    )


def describe(error: BaseException) -> str:
    """Say in one line what was raised; a signal or an error of ours speaks for itself."""
    text = " ".join(str(error).split("Call log:")[0].split())
    if isinstance(error, SELF_EXPLAINING):
        return text or type(error).__name__
    kind = type(error).__name__
    if not text:
        return kind
    # Playwright's plain `Error` says nothing that its message does not.
    return text if kind == "Error" else f"{kind}: {text}"
