"""The nouns that modules hand to each other: plain, frozen, without behaviour of their own."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from worker.records import record

JSON = dict[str, Any] | list[Any] | str | int | float | bool | None

# The queue of jobs that name none.
DEFAULT_QUEUE = "default"
# The width of its column.
MAX_BATCH_NAME = 100

# After a failure, the jobs behind it in their order wait for a person, go on, or fail too.
ORDER_ON_FAILURE = ("wait", "skip", "stop")


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


class StepKind(StrEnum):
    """How a task's last step is read when the task breaks off there."""

    # By its words: "submitting order" may be half done.
    GUESSED = "guessed"
    # As it is: the task has switched the guessing off.
    PLAIN = "plain"
    # The task itself has called it irreversible.
    IRREVERSIBLE = "irreversible"


class Cause(StrEnum):
    """Who was at fault when an attempt failed."""

    CODE = "code"
    SITE = "site"
    PROXY = "proxy"
    PROFILE = "profile"
    CONTENTION = "contention"
    POOL = "pool"


@record(frozen=True, slots=True)
class Owner:
    """Who claims: a slot of the pool and the one incarnation that works it now."""

    slot: int
    incarnation: int

    def __str__(self) -> str:
        return f"worker {self.slot} (incarnation {self.incarnation})"


@record(frozen=True, slots=True)
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
    priority: int = 0
    # Where it stands in an order, such as `key:K`; an account's jobs have a place in any case.
    order_place: str | None = None
    queue: str = DEFAULT_QUEUE
    # Steps from the first job of its chain, if a job has added it.
    depth: int = 0


@record(frozen=True, slots=True)
class Route:
    """Which profile, account and proxy an attempt uses, by name; None for what it goes without."""

    profile: str | None = None
    account: str | None = None
    proxy: str | None = None


@record(frozen=True, slots=True)
class Claim:
    """A worker's hold on a job, proved by its fence number and its incarnation."""

    job_id: int
    fence: int
    incarnation: int | None
    attempt: int
    max_attempts: int
    task: str
    payload: str
    timeout_seconds: int | None = None
    # Somebody wants to be told of the outcome.
    has_listener: bool = False
    blocks: int = 0
    crashes: int = 0
    forgiven: int = 0
    site: str | None = None
    profile_id: str | None = None
    account_id: str | None = None
    canary: str | None = None
    lease_fence: int | None = None
    # What the row said of it when somebody else read it; a worker knows its own job's step itself.
    irreversible_step: str | None = None
    order_place: str | None = None
    # As far as it is known with the claim: an ordinary job's proxy is chosen when it begins.
    route: Route = Route()
    depth: int = 0

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


@record(frozen=True, slots=True)
class Ending:
    """What happened to a claim: how it ended, who was at fault, and what is known of a failure.

    Where the job goes from there, and what its row says, is decided by the queue.
    """

    outcome: Outcome
    reason: str = ""
    cause: Cause | None = None
    # The result of a job that is done, as JSON text.
    result: str | None = None
    # Before the next try; and what the site itself asked for, if it did.
    delay_seconds: float | None = None
    retry_after_seconds: float | None = None
    max_blocks: int | None = None
    last_error: str | None = None
    fingerprint: str | None = None
    label: str | None = None
    # The folder of its evidence, within the errors folder.
    evidence: str | None = None
    evidence_dir: str | None = None
    last_step: str | None = None
    # The irreversible step that was begun and not left: a job that failed may be half done.
    irreversible_step: str | None = None
    # The name of the proxy that its pages went through, if there was one.
    proxy: str | None = None
    # Its profile could not be had, whatever the task is: it is left alone for a while.
    rests_profile: bool = False
    # The jobs that are added with a finish, a row each.
    follow_ups: tuple[dict[str, Any], ...] = ()

    @property
    def blames_site(self) -> bool:
        return self.cause is Cause.SITE


@record(frozen=True, slots=True)
class Rejection:
    """A job that was claimed only to be ended: it cannot be done, or need not be."""

    claim: Claim
    ending: Ending


@record(frozen=True, slots=True)
class Outlook:
    """What a worker that found nothing to claim may still expect."""

    has_ready: bool
    has_in_progress: bool
    next_due_seconds: float | None


@record(frozen=True, slots=True)
class Partition:
    """The share of the ids that a slot looks at first: those with `id % total == slot`."""

    slot: int
    total: int
