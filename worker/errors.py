"""Every error Nightshift raises by itself, and the signals a task may raise.

NightshiftError
├─ UsageError               exit 2: a flag has a wrong value
├─ SettingsError            exit 78: a setting is wrong
├─ DatabaseUnavailable      exit 69: the server cannot be reached · RowsLocked · Undone
│                           · StaleServer · AccessDenied, exit 78
├─ SchemaMismatch           exit 78: the schema is older or newer than this code
├─ BadData                  exit 2: the server refuses a value
├─ DuplicateKey · AlreadyThere    the server refuses a row, a table
├─ OutputLost               exit 1: stdout does not take what was asked for
├─ RunLocked                exit 75: another run holds the lock
├─ ClaimLost · LeaseLost    stop, write nothing
├─ BrowserError             LaunchFailed (BrowserAway) · JobTimedOut
│                           · ProviderError
├─ EvidenceUnavailable      exit 69: the shared place for evidence cannot be used
├─ ProxyUnavailable         proxies are configured, but none can be used now
├─ PageRefused              a page went where it may not, or took more than its share
├─ TaskNotFound             no task of that name is loaded
└─ PayloadError             the payload is not what the task needs
TaskSignal                  Blocked · Retry (SiteFailed) · Fail: raised by tasks
"""

from __future__ import annotations

from typing import Literal

from worker.exit_codes import ExitCode

ProviderTrouble = Literal[
    "already_running",
    # Open elsewhere: another machine's or person's, never stopped by us.
    "locked",
    # The vendor downloads or updates what its browser needs.
    "preparing",
    "throttled",
    "refused",
    "unreachable",
    "bad_answer",
    "missing",
    "shared",
    "wrong_way_out",
]


def message_of(error: BaseException) -> str:
    """Return what an error says, whatever its author has made of `__str__`."""
    try:
        return str(error)
    except Exception as problem:  # noqa: BLE001 - it is a stranger's code.
        return f"it cannot say what it is: its __str__ raises {type(problem).__name__}"


class NightshiftError(Exception):
    """Something Nightshift can explain in one line."""

    exit_code = ExitCode.UNEXPECTED


class SettingsError(NightshiftError):
    """A setting is missing or wrong; the message names it and says what to do."""

    exit_code = ExitCode.CONFIGURATION


class UsageError(NightshiftError):
    """The command was given wrong values; the message says which and what to give instead."""

    exit_code = ExitCode.USAGE


class DatabaseUnavailable(NightshiftError):
    """The database cannot be reached."""

    exit_code = ExitCode.UNAVAILABLE


class RowsLocked(DatabaseUnavailable):
    """Another transaction holds rows that are needed; the rest of the database works."""


class Undone(DatabaseUnavailable):
    """The server undid a whole transaction for another one's sake; the same may work again."""


class StaleServer(DatabaseUnavailable):
    """A member of a cluster has not got what another member has committed before."""


class AccessDenied(DatabaseUnavailable):
    """The server refuses the user, its password, or a right that is needed."""

    exit_code = ExitCode.CONFIGURATION


class SchemaMismatch(NightshiftError):
    """The database's schema is not the one this code was written for."""

    exit_code = ExitCode.CONFIGURATION


class BadData(NightshiftError):
    """The server refuses a value: too long, or not what its column takes."""

    exit_code = ExitCode.USAGE


class DuplicateKey(NightshiftError):
    """A row with that unique key exists already."""


class AlreadyThere(NightshiftError):
    """A table, column or index of that name exists already."""


class OutputLost(NightshiftError):
    """What was asked for cannot be written to stdout: it is closed, or its disk is full."""


class RunLocked(NightshiftError):
    """Another run holds the lock."""

    exit_code = ExitCode.LOCKED


class ClaimLost(NightshiftError):
    """The job has another owner now, or none: its outcome is not ours to write."""

    def __init__(self, job_id: int, fence: int) -> None:
        super().__init__(f"claim on job {job_id} (fence {fence}) was lost; its outcome is dropped")
        self.job_id = job_id
        self.fence = fence


class StepTaken(NightshiftError):
    """An earlier attempt has taken this irreversible step: only a person may allow it again."""

    def __init__(self, job_id: int, step: str) -> None:
        super().__init__(
            f"its step {step!r} was taken in an earlier attempt; not again without a person"
        )
        self.job_id = job_id
        self.step = step


class LeaseLost(NightshiftError):
    """The profile has another holder now, or none: nothing may be written for it."""

    def __init__(self, profile_id: str, fence: int) -> None:
        super().__init__(f"the lease on profile {profile_id} (fence {fence}) was lost")
        self.profile_id = profile_id
        self.fence = fence


class BrowserError(NightshiftError):
    """The browser is at fault, not the job."""

    exit_code = ExitCode.UNAVAILABLE


class LaunchFailed(BrowserError):
    """No browser could be started; the message says how to get one.

    `is_passing` when the machine was only short of something: the same may work later.
    """

    def __init__(self, message: str, *, is_passing: bool = False) -> None:
        super().__init__(message)
        self.is_passing = is_passing


class BrowserAway(LaunchFailed):
    """No browser elsewhere can be had now; `after` says in how many seconds to look again."""

    def __init__(self, message: str, after: float) -> None:
        super().__init__(message, is_passing=True)
        self.after = after


class JobTimedOut(BrowserError):
    """The job went past its deadline and its browser was killed to end it."""

    def __init__(self, seconds: float, stack: str = "") -> None:
        super().__init__(f"job ran past its timeout of {seconds:g} s")
        self.seconds = seconds
        self.stack = stack


class ProviderError(BrowserError):
    """A provider could not give a profile's browser; `kind` says what went wrong."""

    def __init__(
        self,
        message: str,
        *,
        provider: str,
        kind: ProviderTrouble,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.provider = provider
        self.kind: ProviderTrouble = kind
        self.retry_after = retry_after


class EvidenceUnavailable(NightshiftError):
    """Evidence cannot be had from where it is, or cannot be put there; says nothing of the URL."""

    exit_code = ExitCode.UNAVAILABLE


class ProxyUnavailable(NightshiftError):
    """The job has to wait, because it must use a proxy and none is available."""

    exit_code = ExitCode.UNAVAILABLE

    def __init__(self, reason: str, after: float | None = None) -> None:
        super().__init__(reason)
        self.after = after


class PageRefused(NightshiftError):
    """A page went where pages may not go, or took more of the machine than a job may.

    It would be the same at every attempt; the message says what to change.
    """


class TaskNotFound(NightshiftError):
    """No task of that name is loaded."""

    exit_code = ExitCode.CONFIGURATION


class PayloadError(NightshiftError):
    """The payload is not what the task needs; the message names the field."""


class TaskSignal(Exception):
    """What a task raises to decide how its job continues."""


class Blocked(TaskSignal):
    """The site blocked us as a robot: try again later, through another proxy if there is one."""

    def __init__(self, reason: str = "blocked by the site", after: float | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.after = after


class Retry(TaskSignal):
    """Try the job again, after `after` seconds or after the usual backoff."""

    def __init__(self, reason: str = "the task asked for a retry", after: float | None = None):
        super().__init__(reason)
        self.reason = reason
        self.after = after


class SiteFailed(Retry):
    """The site answered with an error; the built-in tasks raise this for a 5xx."""


class Fail(TaskSignal):
    """The job can never succeed: no more attempts."""

    def __init__(self, reason: str = "the task gave the job up") -> None:
        super().__init__(reason)
        self.reason = reason
