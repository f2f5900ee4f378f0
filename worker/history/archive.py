"""The archive: finished jobs leave the queue with their history, and nothing is ever dropped.

A batch is one transaction that copies and removes, so it may be killed at any moment, and several
may work at once: whoever comes second finds the row gone. Pauses between batches leave room.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from worker.database.client import Database, Row

# Small ones keep claims from waiting behind a large commit: their p99, measured during against
# before, was 1.3 with batches of 100 and 1.6 with batches of 500 (MySQL, 40,000 jobs, a run each).
BATCH = 100
# How busy the server is shows in a batch's duration: the pause is this many times as long.
REST = 2.0
# A server that rests longer than this between two batches has recovered from anything.
MAX_REST_SECONDS = 5.0
# The database's times are UTC and carry no zone.
EARLIEST = datetime.fromisoformat("1970-01-01")


@dataclass(frozen=True, slots=True)
class Finished:
    """Which jobs go: those that ended so, before a moment of the database's clock."""

    before: datetime
    statuses: tuple[str, ...] = ("done", "error")


@dataclass(frozen=True, slots=True)
class Label:
    """Who sends jobs to the archive, and why."""

    by: str
    reason: str


@dataclass(frozen=True, slots=True)
class Moved:
    """What one batch came to."""

    jobs: int
    attempts: int


def finished_before(db: Database, seconds: float, statuses: Sequence[str]) -> Finished:
    """Choose the jobs that finished at least `seconds` ago, by the database's clock now."""
    return Finished(ago(now(db), seconds), tuple(statuses))


def count(db: Database, finished: Finished) -> dict[str, int]:
    """Count by status what would be moved."""
    rows = db.fetch_all("count_jobs_to_archive", before=finished.before, statuses=finished.statuses)
    found = {row["status"]: int(row["jobs"]) for row in rows}
    return {status: found.get(status, 0) for status in finished.statuses}


def run(
    db: Database,
    finished: Finished,
    label: Label,
    *,
    batch: int = BATCH,
    rest: float = REST,
    max_seconds: float | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[Moved]:
    """Move the jobs batch by batch, telling of each, until none is left or the time is over."""
    began = time.monotonic()
    cursor = (EARLIEST, 0)
    while True:
        batch_began = time.monotonic()
        rows = db.fetch_all(
            "jobs_to_archive",
            finished_at=cursor[0],
            id=cursor[1],
            before=finished.before,
            statuses=finished.statuses,
            limit=batch,
        )
        if not rows:
            return
        cursor = (rows[-1]["finished_at"], rows[-1]["id"])
        ids = [row["id"] for row in rows]
        yield move(db, ids, label, until=finished.before, statuses=finished.statuses)
        took = time.monotonic() - batch_began
        pause = min(took * rest, MAX_REST_SECONDS)
        if max_seconds is not None and time.monotonic() + pause - began >= max_seconds:
            return
        sleep(pause)


def move(
    db: Database,
    ids: Sequence[int],
    label: Label,
    *,
    until: datetime,
    statuses: Sequence[str],
    half_done: bool = True,
) -> Moved:
    """Move these jobs in one transaction, those of them that still ended so by that moment.

    Without `half_done` those at an irreversible step stay.
    """
    counts = db.run_script(
        "archive_jobs",
        # In the order of the key, so that two batches never wait for each other in a circle.
        ids=tuple(sorted(ids)),
        statuses=tuple(statuses),
        until=until,
        half_done=half_done,
        moment=now(db),
        by=label.by[:255],
        reason=label.reason[:255],
    )
    return Moved(jobs=counts[0], attempts=counts[1])


def find(db: Database, job_id: int) -> tuple[Row, list[Row]] | None:
    """Read an archived job and its history, or None when there is none of that number."""
    job = db.fetch_one("get_archived_job", id=job_id)
    if job is None:
        return None
    history = db.fetch_all("attempts_of_archived_job", id=job_id, archived_at=job["archived_at"])
    return job, history


def now(db: Database) -> datetime:
    """Ask the database what time it is."""
    moment: datetime = db.fetch_all("database_time")[0]["now"]
    return moment


def ago(moment: datetime, seconds: float) -> datetime:
    """Go back from a moment, but not past the first one that counts."""
    return moment - timedelta(seconds=min(seconds, (moment - EARLIEST).total_seconds()))
