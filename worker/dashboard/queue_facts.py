"""What is known of queues, batches and schedules; gathered beside requests, while somebody looks.

No index knows queues or the state of a batch, so rows are read: for a moment at most in each pass.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from worker.dashboard.batch_counts import BatchCount, BatchCounts
from worker.database.client import Database, Row
from worker.guards import limits
from worker.history import archive
from worker.models import DEFAULT_QUEUE
from worker.queue import batches
from worker.queue.claims import Queue
from worker.recovery import live_runs
from worker.recovery.live_runs import RunState
from worker.reporting import queues
from worker.reporting.queues import QueueCount
from worker.scheduling import schedules

COUNT_SECONDS = 0.3
# Batches that are open or ended within a day; the others are on a page of their own.
MOST_BATCHES = 50


@dataclass(frozen=True, slots=True)
class QueueNow:
    """One queue: its jobs, who paused it, which runs work it, and its limit."""

    name: str
    ready: int
    in_progress: int
    or_more: bool = False
    paused: Row | None = None
    runs: tuple[RunState, ...] = ()
    concurrent: int | None = None


@dataclass(frozen=True, slots=True)
class BatchNow:
    """One batch; `count` is of those in the queue while it is open."""

    row: Row
    count: BatchCount | None = None

    @property
    def is_open(self) -> bool:
        """Whether some of its jobs are not finished."""
        return self.row["finished_at"] is None


@dataclass(frozen=True, slots=True)
class QueueFacts:
    """One pass; `at` is the database's time."""

    at: datetime
    queues: tuple[QueueNow, ...]
    batches: tuple[BatchNow, ...]
    has_more_batches: bool
    schedules: tuple[Row, ...]


@dataclass(slots=True)
class QueueWatch:
    """Gathers them, pass by pass."""

    _counts: BatchCounts = field(default_factory=BatchCounts)

    def gather(self, db: Database) -> QueueFacts:
        """Work everything out."""
        rows = batches.recent(db, MOST_BATCHES + 1)
        listed = rows[:MOST_BATCHES]
        still_open = [row["name"] for row in listed if row["finished_at"] is None]
        counts = self._counts.look(db, still_open, COUNT_SECONDS)
        rules = schedules.everything(db)
        return QueueFacts(
            at=archive.now(db),
            queues=tuple(_queues(db, rules)),
            batches=tuple(BatchNow(row, counts.get(row["name"])) for row in listed),
            has_more_batches=len(rows) > MOST_BATCHES,
            schedules=tuple(rules),
        )


def _queues(db: Database, rules: list[Row]) -> list[QueueNow]:
    """List every queue that has jobs, a run, a schedule, a pause or a limit."""
    counted = {item.name: item for item in queues.count_each(db, COUNT_SECONDS)}
    alive = live_runs.alive(db)
    caps = {
        row["name"].removeprefix("queue:"): row["concurrent"]
        for row in limits.read(db)
        if row["name"].startswith("queue:")
    }
    names = {DEFAULT_QUEUE, *counted, *caps, *(rule["queue"] for rule in rules)}
    names.update(queue for run in alive for queue in run.queues)
    or_more = any(item.or_more for item in counted.values())
    if names == {DEFAULT_QUEUE}:
        # The index alone knows all of it, however much it is.
        counted, or_more = {DEFAULT_QUEUE: _default(db, counted)}, False
    return [
        _queue(counted.get(name) or QueueCount(name, 0, 0, or_more), alive, caps.get(name))
        for name in sorted(names, key=lambda each: (each != DEFAULT_QUEUE, each))
    ]


def _queue(item: QueueCount, alive: list[RunState], concurrent: int | None) -> QueueNow:
    runs = tuple(run for run in alive if item.name in run.queues)
    return QueueNow(
        item.name, item.ready, item.in_progress, item.or_more, item.paused, runs, concurrent
    )


def _default(db: Database, counted: dict[str, QueueCount]) -> QueueCount:
    jobs = Queue(db).unfinished()
    known = counted.get(DEFAULT_QUEUE)
    return QueueCount(
        DEFAULT_QUEUE,
        jobs["pending"] - jobs["waiting"],
        jobs["in_progress"],
        paused=None if known is None else known.paused,
    )
