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
    Retry,
    TaskNotFound,
)
from worker.models import Outcome

# Disk, memory, processes or files ran out: the machine's trouble, which may pass.
SCARCITY = {errno.ENOSPC, errno.EDQUOT, errno.ENOMEM, errno.EAGAIN, errno.EMFILE, errno.ENFILE}


@dataclass(frozen=True, slots=True)
class Verdict:
    """How an attempt ended, and why; the queue knows where the job goes from there."""

    outcome: Outcome
    reason: str
    after_seconds: float | None = None


def judge(error: BaseException) -> Verdict:
    """Decide over a failed attempt by what its task raised."""
    reason = describe(error)
    match error:
        case JobTimedOut():
            return Verdict(Outcome.TIMED_OUT, reason)
        case Blocked():
            return Verdict(Outcome.BLOCKED, f"blocked: {reason}", error.after)
        case Retry():
            return Verdict(Outcome.RETRY, reason, error.after)
        case Fail() | PayloadError() | TaskNotFound():
            return Verdict(Outcome.ERROR, reason)
        case LaunchFailed():
            return Verdict(Outcome.HANDED_BACK, reason)
        case MemoryError():
            return Verdict(Outcome.RETRY, reason)
        case OSError() if error.errno in SCARCITY:
            return Verdict(Outcome.RETRY, reason)
    match classify(error).kind:
        case Kind.TIMEOUT | Kind.NETWORK:
            return Verdict(Outcome.RETRY, reason)
        case Kind.CRASHED | Kind.CLOSED | Kind.DRIVER_GONE:
            return Verdict(Outcome.CRASHED, reason)
    return Verdict(Outcome.ERROR, reason)


def describe(error: BaseException) -> str:
    """Say in one line what was raised; a signal or an error of ours speaks for itself."""
    text = " ".join(str(error).split("Call log:")[0].split())
    if isinstance(error, (Blocked, Retry, Fail, PayloadError, TaskNotFound, JobTimedOut)):
        return text or type(error).__name__
    kind = type(error).__name__
    if not text:
        return kind
    # Playwright's plain `Error` says nothing that its message does not.
    return text if kind == "Error" else f"{kind}: {text}"
