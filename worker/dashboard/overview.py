"""How everything stands now: runs, workers, pace, what is left, when it is ready.

The queue's counts are those of the facts, or of a live run's heart where it counted later.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from statistics import median

from worker.dashboard.facts import DAY, NIGHT, WEEK, Facts
from worker.dashboard.workers_now import WorkerNow, workers_of
from worker.database.client import Database, Row
from worker.recovery import live_runs
from worker.recovery.live_runs import Life, RunState
from worker.reporting import judgement
from worker.reporting.deadline import deadline
from worker.reporting.histogram import added
from worker.reporting.judgement import STALL_SECONDS, Cause, Judgement, Situation
from worker.reporting.spans import HOUR, MINUTE, Span
from worker.reporting.tally import Figures

RATE_MINUTES = 15
MOST_RUNS = 20
# A worker that has not been there for longer than this in a run is not starting but missing.
START_SECONDS = 60
# Of fewer hours nobody knows what is usual.
USUAL_HOURS = 5


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
class Now:
    """Everything that the first page tells; `at` is the database's time."""

    at: datetime
    facts: Facts
    range: Range
    since: datetime
    alive: list[RunState]
    # Killed or silent, without another run in their place.
    dead: list[RunState]
    runs: list[RunState]
    workers: list[WorkerNow]
    series: Sequence[Figures]
    totals: Figures
    paused: Row | None
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def latest(self) -> RunState | None:
        """The newest run."""
        return self.runs[0] if self.runs else None

    @property
    def to_go(self) -> int:
        """Jobs that can be done now, without those that wait for a time or are held back."""
        held = self.held_jobs + self.facts.waiting
        return max(0, self.counts["pending"] - held) + self.counts["in_progress"]

    @property
    def left(self) -> int:
        """Jobs that have not ended."""
        return self.counts["pending"] + self.counts["in_progress"]

    @property
    def held_jobs(self) -> int:
        """How many jobs are held back."""
        return judgement.held(self.facts.held, self.runs)

    @property
    def per_minute(self) -> float:
        """Jobs done or failed per minute, of the last quarter of an hour, whatever the range."""
        since = self.at - timedelta(minutes=RATE_MINUTES)
        if self.alive:
            since = max(since, min(run.started_at for run in self.alive))
        minutes = self.facts.minutes
        ended = sum(each.done + each.failed for each in minutes if each.start >= since)
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
    def judgement(self) -> Judgement:
        """Which of the four verdicts it is, by the rule that the report has too."""
        quiet, ready = self.last_end_seconds, self.ready_at
        eta = 0.0 if not self.to_go else None
        many = bool(self.facts.failing) and bool(self.alive or self.facts.failed)
        return judgement.judge(
            Situation(
                self.at, self.runs, self.left,
                not_now=self.held_jobs + self.facts.waiting,
                is_paused=self.paused is not None,
                many_fail=many,
                to_go=self.to_go,
                has_ended_lately=quiet is not None and quiet <= STALL_SECONDS,
                eta_seconds=eta if ready is None else (ready - self.at).total_seconds(),
            )
        )  # fmt: skip

    @property
    def is_late(self) -> bool:
        """Whether the rest will clearly not be done before the runs stop."""
        return self.judgement.cause is Cause.LATE

    @property
    def last_end_seconds(self) -> float | None:
        """How long ago a job ended, to the minute; None when none did since `known_since`."""
        ends = [each.end for each in self.facts.minutes if each.done or each.failed]
        return max((self.at - max(ends)).total_seconds(), 0.0) if ends else None

    @property
    def last_failure_seconds(self) -> float | None:
        """How long ago a job failed for good; None when none did for as long.

        To the minute, if it is not among the failures any more: then that minute's beginning.
        """
        failing = [each for each in self.facts.minutes if each.failed]
        if not failing:
            return None
        last = max(failing, key=lambda each: each.start)
        seen = [group.row["last_seen"] for group in self.facts.groups if group.row["last_seen"]]
        exact = [moment for moment in seen if moment >= last.start]
        return max((self.at - max(exact, default=last.start)).total_seconds(), 0.0)

    @property
    def known_since(self) -> datetime:
        """Since when it is known to the minute what ended."""
        return self.facts.at - NIGHT

    @property
    def expected_workers(self) -> int:
        """How many workers the live runs have slots for."""
        return sum(len(run.slots) for run in self.alive)

    @property
    def starting_workers(self) -> int:
        """How many workers of runs that have just begun have not been there yet."""
        since = self.at - timedelta(seconds=START_SECONDS)
        young = {run.run_id: len(run.slots) for run in self.alive if run.started_at > since}
        been = Counter(worker.run_id for worker in self.workers if worker.has_been_up)
        return sum(max(0, slots - been[run_id]) for run_id, slots in young.items())

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
    dead = judgement.unreplaced(runs, at)
    return Now(
        at=at, facts=facts, range=wanted, since=since, alive=alive, dead=dead,
        runs=runs, workers=workers_of(db, facts, [*alive, *dead]),
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


def _counts(facts: Facts, alive: Sequence[RunState]) -> dict[str, int]:
    """Take the queue's counts from whoever counted last."""
    told = [run for run in alive if run.pulse.get("pending") is not None]
    latest = max(told, key=lambda run: run.heartbeat_at, default=None)
    if latest is None or latest.heartbeat_at <= facts.at:
        return dict(facts.counts)
    return facts.counts | {name: latest.pulse[name] for name in ("pending", "in_progress")}
