"""Read finished jobs in the order they finished, in batches that keep memory flat.

A transaction may commit after the time it wrote. When following, the last moments are left for the
next look, and the minute before is read again: a finish that waited for a lock is not missed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from worker.database.client import Database, Row
from worker.json_text import parse_stored
from worker.reasons import last_error_line

BATCH = 1000
# A settling transaction usually takes no longer than this between its UPDATE and its COMMIT.
SETTLING_SECONDS = 2.0
# One that waits for a lock or for the disk may take as long as its client waits; this is more.
LATE_SECONDS = 60.0
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
    # Whether a job is given once for each row of its result.
    by_rows: bool = False
    last_id: int = 0
    # When following: the jobs of the last minute that have been given, by when they finished.
    given: dict[int, datetime] = field(default_factory=dict)
    began: datetime | None = None

    def copy(self) -> Selection:
        """Give another one that stands where this one stands, and is moved on its own."""
        return replace(self, given=dict(self.given))


def read(
    db: Database, selection: Selection, *, is_followed: bool = False
) -> Iterator[dict[str, Any]]:
    """Yield every finished job of the selection, and move the selection past it."""
    for job in _jobs(db, selection, is_followed=is_followed):
        yield from rows_of(job) if selection.by_rows else (job,)


def _jobs(db: Database, selection: Selection, *, is_followed: bool) -> Iterator[dict[str, Any]]:
    if not is_followed:
        yield from _read(db, selection, selection.before)
        return
    selection.began = selection.began or selection.since
    now: datetime = db.fetch_all("database_time")[0]["now"]
    for job in _read(
        db, selection, min(selection.before, now - timedelta(seconds=SETTLING_SECONDS))
    ):
        if selection.given.get(job["id"]) != job["finished_at"]:
            selection.given[job["id"]] = job["finished_at"]
            yield job
    late = now - timedelta(seconds=LATE_SECONDS)
    selection.given = {key: at for key, at in selection.given.items() if at >= late}
    if selection.given and selection.since > late:
        # A job may still come that says it finished in this minute.
        selection.since, selection.last_id = max(late, selection.began), 0


def _read(db: Database, selection: Selection, before: datetime) -> Iterator[dict[str, Any]]:
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


def rows_of(job: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Give a job once for each row of its result, numbered; once if its result is no rows.

    What the result has beside its rows is in each of them, unless the row says otherwise.
    """
    result = job["result"]
    rows = result.get("rows") if isinstance(result, dict) else result
    if not isinstance(rows, list):
        yield {**job, "row": 1}
        return
    beside = {} if rows is result else {key: result[key] for key in result if key != "rows"}
    for number, row in enumerate(rows, 1):
        yield {**job, "row": number, "result": _with(beside, row)}


def _with(beside: dict[str, Any], row: Any) -> Any:
    if not beside:
        return row
    return {**beside, **(row if isinstance(row, dict) else {"result": row})}


def _job(row: Row) -> dict[str, Any]:
    job = dict(row)
    job["payload"] = parse_stored(job["payload"])
    job["result"] = parse_stored(job["result"]) if job["result"] is not None else None
    if job["status"] == "error" and job["reason"] is None:
        job["reason"] = last_error_line(job["last_error"])
    return job
