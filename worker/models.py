"""The nouns that modules hand to each other: plain, frozen, without behaviour of their own."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

JSON = dict[str, Any] | list[Any] | str | int | float | bool | None


class Status(StrEnum):
    """The four states of a job; there are no others."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    DONE = "done"
    ERROR = "error"


class Outcome(StrEnum):
    """How one attempt ended, as its history tells it."""

    DONE = "done"
    RETRY = "retry"
    BLOCKED = "blocked"
    ERROR = "error"
    HANDED_BACK = "handed_back"
    SWEPT = "swept"
    CRASHED = "crashed"
    TIMED_OUT = "timed_out"


class Cause(StrEnum):
    """Who was at fault when an attempt failed."""

    CODE = "code"
    SITE = "site"
    PROXY = "proxy"
    PROFILE = "profile"
    CONTENTION = "contention"
    POOL = "pool"


@dataclass(frozen=True, slots=True)
class Owner:
    """Who claims: a slot of the pool and the one incarnation that works it now."""

    slot: int
    incarnation: int

    @property
    def name(self) -> str:
        """How people are told of it: slots are worked by many, one after the other."""
        return f"worker {self.slot} (incarnation {self.incarnation})"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A ready job as it was read; `version` tells whether it has been touched since."""

    job_id: int
    version: str
    fence: int
    attempts: int
    max_attempts: int | None
    task: str
    payload: str
    timeout_seconds: int | None
    was_done: bool
    has_callback: bool = False
    blocks: int = 0
    crashes: int = 0
    forgiven: int = 0
    site: str | None = None
    profile_id: str | None = None
    account_id: str | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """A worker's hold on a job, proved by its fence number."""

    job_id: int
    fence: int
    attempt: int
    max_attempts: int
    task: str
    payload: str
    timeout_seconds: int | None = None
    has_default_cap: bool = False
    has_callback: bool = False
    blocks: int = 0
    crashes: int = 0
    forgiven: int = 0
    site: str | None = None
    profile_id: str | None = None
    account_id: str | None = None
    canary: str | None = None
    lease_fence: int | None = None
    # Why the job cannot be done at all, or need not be: found out before a browser was touched.
    problem: str | None = None
    problem_cause: Cause = Cause.CODE
    skipped: str | None = None

    @property
    def breaker_keys(self) -> tuple[str, ...]:
        """The breakers that a failure of this job may be counted by."""
        named = (("site", self.site), ("profile", self.profile_id))
        return tuple(f"{kind}:{value}" for kind, value in named if value)

    @property
    def tries(self) -> int:
        """The attempts that count towards the cap: without blocks, crashes and forgiven ones."""
        return self.attempt - self.blocks - self.crashes - self.forgiven

    @property
    def is_last_attempt(self) -> bool:
        return self.tries >= self.max_attempts


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why an attempt ended as it did, for the job's row and for its history."""

    reason: str
    last_error: str | None = None
    fingerprint: str | None = None
    evidence: str | None = None
    last_step: str | None = None
    label: str | None = None
    cause: Cause | None = None


@dataclass(frozen=True, slots=True)
class Ending:
    """How a claim is to end: all that a settlement needs, its result as JSON text."""

    outcome: Outcome
    why: Explanation | None = None
    result: str | None = None
    delay_seconds: float | None = None
    max_blocks: int | None = None


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a worker that found nothing to claim may still expect."""

    has_ready: bool
    has_in_progress: bool
    next_due_seconds: float | None


@dataclass(frozen=True, slots=True)
class Partition:
    """The share of the ids that a slot looks at first: those with `id % total == slot`."""

    slot: int
    total: int
