"""Read finished jobs in the order they finished, in batches that keep memory flat.

A transaction may commit after the time it wrote. When following, the last moments are left for the
next look, and the minute before is read again: a finish that waited for a lock is not missed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
# They come as texts, and are given as such.
TIMES = ("created_at", "started_at", "finished_at", "archived_at")
# What is read out of the queue alone, and out of the archive too: of each job all, or what names
# columns.
WHOLE = ("finished_jobs", "finished_and_archived_jobs")
NAMING = ("finished_jobs_naming", "finished_and_archived_jobs_naming")
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
    jobs = _jobs(db, selection, is_followed=is_followed)
    return _by_rows(jobs) if selection.by_rows else jobs


def read_naming(db: Database, selection: Selection) -> Iterator[dict[str, Any]]:
    """Yield of every job only what names columns: its payload, its result, and what it used."""
    jobs = _read(db, selection, selection.before, NAMING)
    return _by_rows(jobs) if selection.by_rows else jobs


def _jobs(db: Database, selection: Selection, *, is_followed: bool) -> Iterator[dict[str, Any]]:
    if not is_followed:
        yield from _read(db, selection, selection.before)
        return
    selection.began = selection.began or selection.since
    now: datetime = db.fetch_all("database_time")[0]["now"]
    for job in _read(
        db, selection, min(selection.before, now - timedelta(seconds=SETTLING_SECONDS))
    ):
        finished_at = _moment(job["finished_at"])
        if selection.given.get(job["id"]) != finished_at:
            selection.given[job["id"]] = finished_at
            yield job
    late = now - timedelta(seconds=LATE_SECONDS)
    selection.given = {key: at for key, at in selection.given.items() if at >= late}
    if selection.given and selection.since > late:
        # A job may still come that says it finished in this minute.
        selection.since, selection.last_id = max(late, selection.began), 0


def _read(
    db: Database, selection: Selection, before: datetime, queries: tuple[str, str] = WHOLE
) -> Iterator[dict[str, Any]]:
    name = queries[selection.with_archive]
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
            yield _job(row)
        if rows:
            selection.since, selection.last_id = _moment(rows[-1]["finished_at"]), rows[-1]["id"]
        if len(rows) < BATCH:
            return


def _by_rows(jobs: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for job in jobs:
        yield from rows_of(job)


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
    """Make a job of a row, in place: there may be millions of them."""
    row["payload"] = parse_stored(row["payload"])
    if row["result"] is not None:
        row["result"] = parse_stored(row["result"])
    for name in TIMES:
        if text := row.get(name):
            row[name] = _iso(text)
    if row.get("status") == "error" and row["reason"] is None:
        row["reason"] = last_error_line(row["last_error"])
    return row


def _iso(text: str) -> str:
    """Write a time of the database, `2026-01-31 18:00:00.000000`, as Python would."""
    return f"{text[:10]}T{text[11:].removesuffix('.000000')}Z"


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=None)
