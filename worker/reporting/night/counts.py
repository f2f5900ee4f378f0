"""How many jobs there were, each in exactly one figure, and how many came in meanwhile."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from worker.database.client import Database
from worker.reporting.night.model import Counts
from worker.reporting.night.window import Window

# Jobs put back by hand are few. Above this many candidates they are not counted.
MOST_LOOKED_AT = 200_000


def count(db: Database, window: Window, in_error: int) -> Counts:
    """Count the jobs that ended in a night by how they stand, and those that are open.

    How many of the queue failed is known from their groups. Of a run that is over, what is open is
    what it wrote down at its end.
    """
    first = first_added(db, window.start)
    span: dict[str, Any] = {"start": window.start, "end": window.end, "first": first}
    open_now = {name: int(n) for name, n in db.fetch_all("night_open", first=first)[0].items()}
    done, added = _done(db, span, open_now["pending"], in_error)
    failed, discarded = in_error, 0
    for row in db.fetch_all("night_archived", **span):
        added += int(row["added"])
        if row["is_discarded"]:
            discarded += int(row["jobs"])
        elif row["status"] == "done":
            done += int(row["jobs"])
        else:
            failed += int(row["jobs"])
    if not window.is_past:
        left, added = open_now, added + open_now["added"]
    else:
        left = (window.run and (window.run.summary or {}).get("left")) or {}
    return Counts(
        done=done,
        failed=failed,
        discarded=discarded,
        pending=left.get("pending"),
        in_progress=left.get("in_progress"),
        waiting=left.get("waiting") or 0,
        added=added,
    )


def _done(db: Database, span: dict[str, Any], pending: int, in_error: int) -> tuple[int, int]:
    """Count what is done, and how many of all that ended were added in the night."""
    ended = db.fetch_all("night_ended", **span)[0]
    jobs, added = int(ended["jobs"]), int(ended["added"])
    if min(jobs, pending) > MOST_LOOKED_AT:
        return jobs - in_error, added
    ask = "night_put_back" if pending <= jobs else "night_put_back_by_end"
    back = db.fetch_all(ask, **span)[0]
    return jobs - in_error - int(back["jobs"]), added - int(back["added"])


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
