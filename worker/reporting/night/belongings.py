"""What jobs belong to, in a night: each queue's figures, batches that were finished, follow-ups.

No index knows queues, so the rows that ended are read, stretch by stretch and for a moment at most.
"""

from __future__ import annotations

import time
from collections import Counter

from worker.database.client import Database
from worker.reporting import minutes, queues
from worker.reporting.night.counts import first_added
from worker.reporting.night.model import BatchEnd, Batches, QueueFigures
from worker.reporting.night.window import Window

COUNT_SECONDS = 3.0
MOST_QUEUES = 20
MOST_BATCHES = 20


def by_queue(db: Database, window: Window) -> tuple[QueueFigures, ...]:
    """Tell what each queue came to; nothing where the runs of the night worked only one."""
    worked = {queue for run in window.runs for queue in run.queues}
    if len(worked) < 2:
        return ()
    done, failed, is_whole = _ended(db, window)
    left: dict[str, queues.QueueCount] = {}
    if not window.is_past:
        left = {item.name: item for item in queues.count_each(db)}
    names = sorted({*worked, *done, *failed}, key=lambda each: (-done[each] - failed[each], each))
    return tuple(
        QueueFigures(
            name,
            done[name],
            failed[name],
            None if window.is_past else _left(left.get(name)),
            is_whole and not (name in left and left[name].or_more),
        )
        for name in names[:MOST_QUEUES]
    )


def batches(db: Database, window: Window) -> Batches:
    """List the batches that were finished in the night, the latest first; count the open ones."""
    rows = db.fetch_all("batches_of_night", start=window.start, end=window.end, limit=MOST_BATCHES)
    ended = tuple(
        BatchEnd(
            row["name"],
            row["finished_at"],
            (row["finished_at"] - row["created_at"]).total_seconds(),
            int(row["done"] or 0),
            int(row["failed"] or 0),
            int(row["cancelled"] or 0),
        )
        for row in rows
    )
    still_open = 0 if window.is_past else int(db.fetch_all("count_open_batches")[0]["batches"])
    return Batches(ended, int(rows[0]["of_all"]) if rows else 0, still_open)


def follow_ups(db: Database, window: Window) -> int:
    """Count the jobs that jobs have added in the night, by their numbers."""
    first, until = first_added(db, window.start), None
    if window.end < window.now:
        until = first_added(db, window.end)
    return int(db.fetch_all("count_follow_ups", first=first, until=until)[0]["jobs"])


def _ended(db: Database, window: Window) -> tuple[Counter[str], Counter[str], bool]:
    done: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    deadline = time.monotonic() + COUNT_SECONDS
    for start, end in minutes.stretches(db, window.start, window.end):
        for row in db.fetch_all("ended_by_queue", start=start, end=end):
            done[row["queue"]] += int(row["done"])
            failed[row["queue"]] += int(row["failed"])
        if time.monotonic() > deadline and end < window.end:
            return done, failed, False
    return done, failed, True


def _left(item: queues.QueueCount | None) -> int:
    return 0 if item is None else item.ready + item.in_progress
