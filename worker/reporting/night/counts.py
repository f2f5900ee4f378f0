"""How many jobs there were, each in exactly one figure, and how many came in meanwhile."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from worker.database.client import Database
from worker.reporting.night.model import Counts
from worker.reporting.night.window import Window


def count(db: Database, window: Window) -> Counts:
    """Count the jobs that ended in a night by how they stand, and those that are open.

    Of a run that is over, what is open is what it wrote down at its end.
    """
    first = first_added(db, window.start)
    span: dict[str, Any] = {"start": window.start, "end": window.end, "first": first}
    ended = {row["status"]: row for row in db.fetch_all("night_ended", **span)}
    done, failed = (int(ended[each]["jobs"]) if each in ended else 0 for each in ("done", "error"))
    added = sum(int(ended[each]["added"]) for each in ("done", "error") if each in ended)
    discarded = 0
    for row in db.fetch_all("night_archived", **span):
        added += int(row["added"])
        if row["is_discarded"]:
            discarded += int(row["jobs"])
        elif row["status"] == "done":
            done += int(row["jobs"])
        else:
            failed += int(row["jobs"])
    if window.is_past:
        left = (window.run and (window.run.summary or {}).get("left")) or {}
        pending, running, waiting = (left.get(n) for n in ("pending", "in_progress", "waiting"))
        return Counts(done, failed, discarded, pending, running, waiting or 0, added)
    open_now = db.fetch_all("night_open", first=first)[0]
    added += int(open_now["added"])
    pending, running = int(open_now["pending"]), int(open_now["in_progress"])
    return Counts(done, failed, discarded, pending, running, int(open_now["waiting"]), added)


def first_added(db: Database, since: datetime) -> int:
    """Find the first job that was added since a moment, by halving: numbers grow with time."""
    bounds = db.fetch_all("range_of_jobs")[0]
    low, high = int(bounds["first"] or 0), int(bounds["last"] or 0) + 1
    while low < high:
        middle = (low + high) // 2
        row = db.fetch_one("job_at_or_after", id=middle)
        if row is None or row["created_at"] >= since:
            high = middle
        else:
            low = int(row["id"]) + 1
    return low
