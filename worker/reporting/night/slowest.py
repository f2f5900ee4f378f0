"""The slowest tasks, and of each the slowest job.

The roll-ups tell in which minutes the longest attempts ended; only those minutes' rows are read.
"""

from __future__ import annotations

from datetime import datetime

from worker.database.client import Database
from worker.reporting import figures
from worker.reporting.night.model import SlowTask
from worker.reporting.night.window import Window
from worker.reporting.night.words import clean
from worker.reporting.spans import MINUTE

MOST_TASKS = 8
# If several minutes hold attempts of the longest kind, look at this many of them.
MOST_MINUTES = 5


def slowest(db: Database, window: Window) -> list[SlowTask]:
    """List the tasks whose finished attempts took longest, by the 95th of a hundred."""
    found = []
    for task, whole in figures.by_task(db, window.start, window.end).items():
        p50, p95 = whole.durations.percentile(0.5), whole.durations.percentile(0.95)
        if p50 is not None and p95 is not None:
            found.append((p95, p50, task, whole.done))
    listed = []
    for p95, p50, task, done in sorted(found, reverse=True)[:MOST_TASKS]:
        seconds, job = _slowest_job(db, window, task)
        listed.append(SlowTask(clean(task, 64), done, p50, p95, seconds, job))
    return listed


def _slowest_job(db: Database, window: Window, task: str) -> tuple[float | None, int | None]:
    if window.now - window.start > (MINUTE.kept or MINUTE.length):
        return None, None
    best: tuple[float | None, int | None] = (None, None)
    for minute in _minutes(db, window, task):
        row = db.fetch_one("slowest_of_minute", task=task, start=minute, end=minute + MINUTE.length)
        if row is not None and (best[0] is None or float(row["seconds"]) > best[0]):
            best = (float(row["seconds"]), int(row["id"]))
    return best


def _minutes(db: Database, window: Window, task: str) -> list[datetime]:
    """Find the minutes in which attempts of the longest kind ended."""
    by_top: dict[int, list[datetime]] = {}
    for each in figures.per_minute(db, window.start, window.end, task=task):
        if counts := each.durations.counts:
            by_top.setdefault(max(counts), []).append(each.start)
    return by_top[max(by_top)][-MOST_MINUTES:] if by_top else []
