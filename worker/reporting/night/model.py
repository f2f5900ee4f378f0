"""What a night's report tells: the one model that every format is written from.

Times are the database's (UTC, without a zone). Texts are as they were found: whoever writes them
somewhere escapes them. `as_json` is for programs; VERSION grows when a field changes its meaning.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from worker.reporting.lanes import Lane
from worker.reporting.night.window import Window
from worker.reporting.night.zone import zone_name

VERSION = 1


class Level(StrEnum):
    """The four verdicts."""

    SLEEP = "Go back to sleep"
    LOOK = "Look when you are up"
    GET_UP = "Get up"
    CANNOT_TELL = "Cannot tell"


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
    groups: tuple[Group, ...]
    # Jobs that failed in groups beyond those listed, and in the archive.
    other_failures: int
    slowest: tuple[SlowTask, ...]
    doubts: tuple[Doubt, ...]
    house: tuple[HouseItem, ...]
    notes: tuple[str, ...] = field(default=())

    def as_json(self) -> dict[str, Any]:
        """Give it for programs, with times as `2026-01-31T17:00:00Z` and without pictures."""
        window = self.window
        return {
            "version": VERSION,
            "written_at": _plain(window.now),
            "since": _plain(window.start),
            "until": _plain(window.end),
            "zone": zone_name(window.zone, window.now),
            "run": window.run.run_id if window.run else None,
            "runs": [_plain(_run(run)) for run in window.runs],
            "command": window.command,
            "verdict": {**asdict(self.verdict), "level": self.verdict.level.name.lower()},
            "todo": [asdict(duty) for duty in self.duties],
            "todo_more": self.more_duties,
            "jobs": {"in": self.counts.jobs_in, **asdict(self.counts)}
            | {"carried_over": self.counts.carried_over},
            "figures": asdict(self.measures),
            "usual": {"nights": self.usual.nights, **asdict(self.usual.median)},
            "hours": [_plain(asdict(hour)) for hour in self.hours],
            "interruptions": [_plain(asdict(each)) for each in self.interruptions],
            "workers": [_lane(lane) for lane in self.lanes],
            "groups": [_group(group) for group in self.groups],
            "other_failures": self.other_failures,
            "slowest": [asdict(each) for each in self.slowest],
            "doubts": [_plain(asdict(each)) for each in self.doubts],
            "house": [asdict(item) for item in self.house],
            "notes": list(self.notes),
        }


def _group(group: Group) -> Any:
    told = {each.name: getattr(group, each.name) for each in fields(group)}
    del told["picture"], told["good_picture"]
    return _plain(told)


def _lane(lane: Lane) -> dict[str, Any]:
    return {
        "host": lane.host,
        "slot": lane.slot,
        "done": sum(column.done for column in lane.columns),
        "failed": sum(column.failed for column in lane.columns),
        "again": sum(column.again for column in lane.columns),
        "busy_seconds": round(sum(column.busy_seconds for column in lane.columns), 1),
        "restarts": lane.restarts,
    }


def _run(run: Any) -> dict[str, Any]:
    told: dict[str, Any] = run.as_json()
    return {name: told[name] for name in ("run", "host", "started_at", "over_at", "ending")}


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, (list, tuple)) else value
