"""When a job last finished: was done, or failed for good, in whichever run."""

from __future__ import annotations

from worker.database.client import Database


def seconds_ago(db: Database) -> float | None:
    """Tell how long ago that was; None when no job ever finished."""
    row = db.fetch_one("last_finish")
    return None if row is None else float(row["seconds"])
