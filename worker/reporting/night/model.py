"""What a night's report tells: the one model that every format is written from.

Times are the database's (UTC, without a zone). Texts are as they were found: whoever writes them
somewhere escapes them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from worker.reporting.judgement import Level
from worker.reporting.lanes import Lane
from worker.reporting.night.window import Window


@dataclass(frozen=True, slots=True)
class Verdict:
    """The night in one sentence, and why."""

    level: Level
    sentence: str
    why: str


@dataclass(frozen=True, slots=True)
class Counts:
    """Every job of the night in exactly one figure.

    A job belongs to the night that it ended in, or, while it is open, to the one that goes on.
    `pending` and `in_progress` are None where nobody wrote down how many were left.
    """

    done: int
    failed: int
    discarded: int
    pending: int | None
    in_progress: int | None
    waiting: int
    # Of all these, how many came in since the night began.
    added: int

    @property
    def jobs_in(self) -> int:
        """All of them."""
        return self.done + self.failed + self.discarded + self.left

    @property
    def left(self) -> int:
        """Jobs that have not ended."""
        return (self.pending or 0) + (self.in_progress or 0)

    @property
    def carried_over(self) -> int:
        """Jobs that were there when the night began."""
        return max(0, self.jobs_in - self.added)


@dataclass(frozen=True, slots=True)
class Measures:
    """What a night came to, to be held against others; None where it cannot be told."""

    done: float = 0
    failed: float = 0
    recovered: float = 0
    again: float = 0
    per_minute: float | None = None
    p50: float | None = None
    p95: float | None = None
    restarts: float = 0
    outages: float = 0
    outage_seconds: float = 0
    # From the night's beginning until its last run was over.
    ready_after: float | None = None
    # Jobs pending or in progress then, as that run wrote it down.
    left: float | None = None


@dataclass(frozen=True, slots=True)
class Usual:
    """The median of the last seven nights in which something ended; `nights` is how many."""

    nights: int
    median: Measures


@dataclass(frozen=True, slots=True)
class Hour:
    """What ended in one hour, and what held it up."""

    start: datetime
    done: int
    failed: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Interruption:
    """A pause, an outage, an open breaker, or a worker's restart; `end` None: it goes on."""

    kind: str
    start: datetime
    end: datetime | None
    text: str
    slot: int | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Jobs that failed alike; NEW when nothing failed so before this night."""

    name: str | None
    label: str
    task: str
    sites: tuple[str, ...]
    jobs: int
    half_done: int
    first: datetime
    last: datetime
    sample_job: int
    is_new: bool
    is_muted: bool
    hint: str
    command: str
    # Where the sample's evidence is, on which host.
    evidence: str | None
    # A PNG, if there is one here that is small enough.
    picture: bytes | None = None
    # What changed since its task and site last went well, and a JPEG of the page then.
    last_good: str = ""
    good_picture: bytes | None = None

    @property
    def title(self) -> str:
        """Say its task, once, and what went wrong: labels of noted failures name it themselves."""
        if self.label.startswith(f"{self.task}: "):
            return self.label
        return f"{self.task}: {self.label}"


@dataclass(frozen=True, slots=True)
class GroupTotals:
    """All groups of the night, also those that the list has no room for."""

    groups: int = 0
    jobs: int = 0
    new: int = 0
    muted: int = 0
    jobs_muted: int = 0


@dataclass(frozen=True, slots=True)
class QueueFigures:
    """What one queue came to; `left` is None for a night that is over.

    Not `is_whole`: its jobs were counted for a moment only, and there are more.
    """

    name: str
    done: int
    failed: int
    left: int | None
    is_whole: bool = True


@dataclass(frozen=True, slots=True)
class BatchEnd:
    """A batch that was finished, and how long it took."""

    name: str
    finished_at: datetime
    seconds: float
    done: int
    failed: int
    cancelled: int


@dataclass(frozen=True, slots=True)
class Batches:
    """The batches that were finished in the night, the latest ones; how many these are in all."""

    ended: tuple[BatchEnd, ...] = ()
    of_all: int = 0
    open: int = 0


@dataclass(frozen=True, slots=True)
class SlowTask:
    """How long a task's finished attempts took, and its slowest job where that is known."""

    task: str
    jobs: int
    p50: float
    p95: float
    slowest_seconds: float | None = None
    slowest_job: int | None = None


@dataclass(frozen=True, slots=True)
class Doubt:
    """Results that are empty, or much smaller than the task's own ever were."""

    task: str
    kind: str
    count: int
    # Whether not all results were looked at, so that the count is worked out from a share.
    is_estimate: bool
    of: int
    usual_share: float
    first: datetime
    site: str | None
    sample_job: int
    command: str


@dataclass(frozen=True, slots=True)
class HouseItem:
    """One line of house-keeping; `state` is ok, look or held."""

    name: str
    state: str
    text: str


@dataclass(frozen=True, slots=True)
class Duty:
    """Something for a person to do, with the command for it."""

    what: str
    why: str
    command: str


@dataclass(frozen=True, slots=True)
class Night:
    """All of it."""

    window: Window
    verdict: Verdict
    duties: tuple[Duty, ...]
    more_duties: int
    counts: Counts
    measures: Measures
    usual: Usual
    hours: tuple[Hour, ...]
    interruptions: tuple[Interruption, ...]
    column_seconds: float
    lanes: tuple[Lane, ...]
    # The largest ones, muted ones last; `group_totals` knows all of them.
    groups: tuple[Group, ...]
    group_totals: GroupTotals
    # Jobs that failed in groups beyond those listed, and in the archive.
    other_failures: int
    slowest: tuple[SlowTask, ...]
    doubts: tuple[Doubt, ...]
    house: tuple[HouseItem, ...]
    notes: tuple[str, ...] = field(default=())
    # Empty where the runs of the night worked one queue.
    queues: tuple[QueueFigures, ...] = field(default=())
    batches: Batches = field(default_factory=Batches)
    # Jobs that jobs have added.
    follow_ups: int = 0

    @property
    def listed(self) -> tuple[Group, ...]:
        """The groups that are told one by one."""
        return tuple(group for group in self.groups if not group.is_muted)

    @property
    def unlisted(self) -> int:
        """How many groups that nobody has muted have no room in the list."""
        totals = self.group_totals
        return max(0, totals.groups - totals.muted - len(self.listed))
