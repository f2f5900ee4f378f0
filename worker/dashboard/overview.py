"""How everything stands now: runs, workers, pace, what is left, when it is ready.

The queue's counts are those of the facts, or of a live run's heart where it counted later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from statistics import median
from typing import Any

from worker.dashboard.facts import DAY, NIGHT, WEEK, Facts
from worker.database.client import Database, Row
from worker.recovery import live_runs
from worker.recovery.live_runs import Life, RunState
from worker.reporting.deadline import deadline, will_be_late
from worker.reporting.events import Event, Kind
from worker.reporting.histogram import added
from worker.reporting.spans import HOUR, MINUTE, Span
from worker.reporting.tally import Figures

RATE_MINUTES = 15
MOST_RUNS = 20
# Of fewer hours nobody knows what is usual.
USUAL_HOURS = 5
# What a worker records that ends by itself.
FINISHED = "finished"
# A run that died is told of as long; then it is history.
DEAD_HOURS = 24


@dataclass(frozen=True, slots=True)
class Range:
    """A stretch of time to look back over."""

    key: str
    label: str
    length: timedelta
    span: Span = MINUTE


RANGES = {
    each.key: each
    for each in (
        Range("1h", "1 h", timedelta(hours=1)),
        Range("6h", "6 h", timedelta(hours=6)),
        Range("night", "Night", NIGHT),
        Range("day", "Day", DAY, HOUR),
        Range("week", "Week", WEEK, HOUR),
    )
}


@dataclass(frozen=True, slots=True)
class WorkerNow:
    """One slot of a live or dead run, and what it is at."""

    run_id: int
    slot: int
    host: str
    phase: str
    job_id: int | None
    job_seconds: float | None
    step: str
    restarts: int
    is_dead: bool = False
    job: Row | None = None
    incarnation: int = 0
    memory_mb: float | None = None
    # How this life ended, and how the one before it did; empty where there is no such end.
    ending: str = ""
    last_ending: str = ""
    # The browser elsewhere that it uses, and where that can be watched; empty for one of its own.
    browser: str = ""
    live_view: str = ""

    @property
    def has_finished(self) -> bool:
        """Whether it has gone home, because there was nothing left for it."""
        return self.ending == FINISHED

    @property
    def is_up(self) -> bool:
        """Whether it is there, at a job or waiting for one."""
        return not self.is_dead and not self.ending and self.phase not in ("none", "booting")

    @property
    def limit_seconds(self) -> float | None:
        """How long its job may take, where the job itself says so."""
        limit = self.job["timeout_seconds"] if self.job else None
        return float(limit) if limit else None

    @property
    def is_slow(self) -> bool:
        """Whether its job has used up most of its time."""
        limit, took = self.limit_seconds, self.job_seconds
        return limit is not None and took is not None and took > 0.7 * limit


@dataclass(frozen=True, slots=True)
class Now:
    """Everything that the first page tells; `at` is the database's time."""

    at: datetime
    facts: Facts
    range: Range
    since: datetime
    alive: list[RunState]
    # Killed or silent, without another run in their place.
    dead: list[RunState]
    latest: RunState | None
    workers: list[WorkerNow]
    series: Sequence[Figures]
    totals: Figures
    paused: Row | None
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def to_go(self) -> int:
        """Jobs that can be done now, without those that wait for a time or are held back."""
        held = self.facts.held_jobs + self.facts.waiting
        return max(0, self.counts["pending"] - held) + self.counts["in_progress"]

    @property
    def per_minute(self) -> float:
        """Jobs done or failed per minute, of the last quarter of an hour."""
        since = self.at - timedelta(minutes=RATE_MINUTES)
        if self.alive:
            since = max(since, min(run.started_at for run in self.alive))
        ended = sum(each.done + each.failed for each in self.series if each.start >= since)
        return ended / max((self.at - since).total_seconds() / 60, 1.0)

    @property
    def usual_per_minute(self) -> float | None:
        """Jobs per minute in a middling hour of the last week in which any ended."""
        today = self.at - timedelta(hours=1)
        hours = [each.per_minute for each in self.facts.hours if each.end <= today]
        busy = [rate for rate in hours if rate > 0]
        return median(busy) if len(busy) >= USUAL_HOURS else None

    @property
    def usual_slow_seconds(self) -> float | None:
        """How long a slow job took in the last week (p95)."""
        return added(each.durations for each in self.facts.hours).percentile(0.95)

    @property
    def ready_at(self) -> datetime | None:
        """When the rest is done if it goes on so; None when that cannot be told."""
        if not self.alive or not self.to_go or self.per_minute <= 0 or self.paused:
            return None
        return self.at + timedelta(minutes=self.to_go / self.per_minute)

    @property
    def deadline(self) -> datetime | None:
        """When the live runs stop, by `--until` or `--max-runtime`."""
        return deadline(self.alive)

    @property
    def is_late(self) -> bool:
        """Whether the rest will clearly not be done by then."""
        ready = self.ready_at
        eta = None if ready is None else (ready - self.at).total_seconds()
        return will_be_late(self.alive, eta, self.at)

    @property
    def last_end_seconds(self) -> float | None:
        """How long ago a job ended, to the minute; None when none did in the range."""
        ends = [each.end for each in self.series if each.done or each.failed]
        return max((self.at - max(ends)).total_seconds(), 0.0) if ends else None

    @property
    def last_failure_seconds(self) -> float | None:
        """How long ago a job failed for good, to the minute; None when none did in the range."""
        ends = [each.end for each in self.series if each.failed]
        return max((self.at - max(ends)).total_seconds(), 0.0) if ends else None

    @property
    def expected_workers(self) -> int:
        """How many workers the live runs have slots for."""
        return sum(len(run.slots) for run in self.alive)

    @property
    def new_groups(self) -> int:
        """How many groups of failures were not seen before."""
        return sum(group.is_new for group in self.facts.shown_groups)


def look(db: Database, facts: Facts, paused: Row | None, wanted: Range) -> Now:
    """Read how everything stands."""
    runs = live_runs.newest(db, MOST_RUNS)
    at = _time_of(runs, facts)
    alive = [run for run in runs if run.life is Life.ALIVE]
    since = _since(at, wanted, alive or runs[:1])
    known = facts.hours if wanted.span is HOUR else facts.minutes
    series = [each for each in known if each.start >= wanted.span.floor(since)]
    totals = Figures(since, at)
    for each in series:
        for outcome, tally in each.outcomes.items():
            totals.add(outcome, tally)
    dead = _dead(runs, at)
    return Now(
        at=at, facts=facts, range=wanted, since=since, alive=alive, dead=dead,
        latest=runs[0] if runs else None, workers=_workers(db, facts, [*alive, *dead]),
        series=series, totals=totals, paused=paused, counts=_counts(facts, alive),
    )  # fmt: skip


def _time_of(runs: Sequence[RunState], facts: Facts) -> datetime:
    """Tell the database's time, by how long ago it says that a run has beaten."""
    if not runs:
        return facts.at
    return runs[0].heartbeat_at + timedelta(seconds=runs[0].silent_seconds)


def _since(at: datetime, wanted: Range, runs: Sequence[RunState]) -> datetime:
    """Go back as long as asked; a night begins with its run."""
    earliest = at - wanted.length
    if wanted.key != "night" or not runs:
        return earliest
    began = min(run.started_at for run in runs)
    return max(began, earliest) if began < at - timedelta(minutes=10) else at - timedelta(hours=1)


def _dead(runs: Sequence[RunState], at: datetime) -> list[RunState]:
    """List runs that died lately and whose place no later run on their host has taken."""
    since = at - timedelta(hours=DEAD_HOURS)
    return [
        run
        for run in runs
        if run.life in (Life.GONE, Life.SILENT)
        and run.heartbeat_at >= since
        and not any(other.host == run.host and other.run_id > run.run_id for other in runs)
    ]


def _counts(facts: Facts, alive: Sequence[RunState]) -> dict[str, int]:
    """Take the queue's counts from whoever counted last."""
    told = [run for run in alive if run.pulse.get("pending") is not None]
    latest = max(told, key=lambda run: run.heartbeat_at, default=None)
    if latest is None or latest.heartbeat_at <= facts.at:
        return dict(facts.counts)
    return facts.counts | {name: latest.pulse[name] for name in ("pending", "in_progress")}


def _workers(db: Database, facts: Facts, runs: Sequence[RunState]) -> list[WorkerNow]:
    lives = _lives(facts)
    shown = [
        (run, told.get("slot", run.first_slot + place), told)
        for run in runs
        for place, told in enumerate(run.pulse.get("workers", ()))
    ]
    ids = tuple(told["job_id"] for _, _, told in shown if told.get("job_id") is not None)
    jobs = {row["id"]: row for row in db.fetch_all("jobs_at_work", ids=ids)} if ids else {}
    return [
        _worker(run, slot, told, lives.get((run.run_id, slot), ()), jobs)
        for run, slot, told in shown
    ]


def _worker(
    run: RunState, slot: int, told: dict[str, Any], lives: Sequence[Event], jobs: dict[int, Row]
) -> WorkerNow:
    incarnation = int(told.get("incarnation") or 0)
    before = [life for life in lives if life.detail.get("incarnation") != incarnation]
    own = [life for life in lives if life not in before]
    return WorkerNow(
        run.run_id, slot, run.host, told["phase"], told.get("job_id"),
        _age(run, told.get("job_seconds")), told.get("step") or "",
        restarts=max(0, len(lives) - 1),
        is_dead=run.life is not Life.ALIVE, job=jobs.get(told.get("job_id") or 0),
        incarnation=incarnation, memory_mb=told.get("memory_mb"),
        ending=(own[-1].why or "ended") if own and own[-1].ended_at is not None else "",
        last_ending=before[-1].why if before else "",
        browser=told.get("browser") or "", live_view=told.get("live_view") or "",
    )  # fmt: skip


def _lives(facts: Facts) -> dict[tuple[int | None, int | None], list[Event]]:
    found: dict[tuple[int | None, int | None], list[Event]] = {}
    for event in facts.events:
        if event.kind is Kind.WORKER:
            found.setdefault((event.run_id, event.slot), []).append(event)
    return found


def _age(run: RunState, seconds: float | None) -> float | None:
    """Add what has passed since the heart told it."""
    return None if seconds is None else seconds + max(run.silent_seconds, 0.0)
