"""How many jobs of each queue are ready or at work, where there are queues beside the default one.

No index knows queues, so the rows are read, stretch by stretch and for a moment at most.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass

from worker.claiming.ready_jobs import ReadyJobs
from worker.database.client import Database, Row
from worker.models import DEFAULT_QUEUE, Partition
from worker.queue import pause

COUNT_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class QueueCount:
    """How many jobs a queue has, at least; and who paused it, if somebody did."""

    name: str
    ready: int
    in_progress: int
    or_more: bool = False
    paused: Row | None = None


def count(db: Database, seconds: float = COUNT_SECONDS) -> list[QueueCount]:
    """Count the jobs of each queue by name; nothing where only the default one was found."""
    found = count_each(db, seconds)
    is_plain = all(item.name == DEFAULT_QUEUE and item.paused is None for item in found)
    return [] if is_plain else found


def count_each(db: Database, seconds: float = COUNT_SECONDS) -> list[QueueCount]:
    """Count the jobs of every queue that has some, or is paused, by name."""
    ready: Counter[str] = Counter()
    deadline, is_complete = time.monotonic() + seconds, True
    for priority, after, until in ReadyJobs(db, Partition(0, 1)).stretches():
        is_complete = not ready or time.monotonic() < deadline
        if not is_complete:
            break
        rows = db.fetch_all("ready_by_queue", priority=priority, after=after, until=until)
        ready.update({row["queue"]: int(row["jobs"]) for row in rows})
    running = {row["queue"]: int(row["jobs"]) for row in db.fetch_all("in_progress_by_queue")}
    paused = {row["queue"]: row for row in pause.paused_queues(db)}
    return [
        QueueCount(name, ready[name], running.get(name, 0), not is_complete, paused.get(name))
        for name in sorted({*ready, *running, *paused})
    ]
