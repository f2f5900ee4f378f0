"""Read finished jobs in the order they finished, in batches that keep memory flat.

A transaction may commit a little after the time it wrote. When following, the last moments are
left for the next look, so that no job is missed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from worker.database.client import Database, Row

BATCH = 1000
# The longest a settling transaction is expected to take between its UPDATE and its COMMIT.
SETTLING_SECONDS = 2.0
# The database's times are UTC and carry no zone.
EARLIEST = datetime.fromisoformat("1970-01-01")
LATEST = datetime.fromisoformat("9999-01-01")


@dataclass(slots=True)
class Selection:
    """Which finished jobs are wanted, and how far they have been read."""

    task: str | None = None
    statuses: tuple[str, ...] = ("done",)
    since: datetime = EARLIEST
    before: datetime = LATEST
    with_archive: bool = False
    last_id: int = 0


def read(
    db: Database, selection: Selection, *, is_followed: bool = False
) -> Iterator[dict[str, Any]]:
    """Yield every finished job of the selection, and move the selection past it."""
    before = selection.before
    if is_followed:
        now: datetime = db.fetch_all("database_time")[0]["now"]
        before = min(before, now - timedelta(seconds=SETTLING_SECONDS))
    name = "finished_and_archived_jobs" if selection.with_archive else "finished_jobs"
    while True:
        rows = db.fetch_all(
            name,
            finished_at=selection.since,
            id=selection.last_id,
            before=before,
            task=selection.task,
            statuses=selection.statuses,
            limit=BATCH,
        )
        for row in rows:
            selection.since, selection.last_id = row["finished_at"], row["id"]
            yield _job(row)
        if len(rows) < BATCH:
            return


def last_error_line(last_error: str | None) -> str | None:
    """Return what a traceback comes to: its last line, if there is one."""
    lines = (last_error or "").strip().splitlines()
    return lines[-1].strip() if lines else None


def _job(row: Row) -> dict[str, Any]:
    job = dict(row)
    job["payload"] = json.loads(job["payload"])
    job["result"] = json.loads(job["result"]) if job["result"] is not None else None
    if job["status"] == "error" and job["reason"] is None:
        job["reason"] = last_error_line(job["last_error"])
    return job
