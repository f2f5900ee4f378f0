"""Cancel jobs, and bring discarded or cancelled ones back. Nothing is ever dropped.

A cancelled job moves to the archive as it stands. One at work loses its claim with that: what its
worker writes later matches no row. One at an irreversible step is left alone. Changes are made in
small guarded transactions, so a killed command can simply be run again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from worker.database.client import Database, Transaction
from worker.errors import DuplicateKey
from worker.history import archive
from worker.history.archive import Label
from worker.models import Status

PAGE = 5_000


@dataclass(frozen=True, slots=True)
class Gone:
    """Which archived jobs are to come back; None asks nothing."""

    ids: tuple[int, ...] = ()
    task: str | None = None
    queue: str | None = None
    site: str | None = None
    profile: str | None = None
    batch: str | None = None
    since: datetime | None = None

    def params(self) -> dict[str, Any]:
        """Give them as the query wants them."""
        return {
            "any_id": not self.ids,
            "ids": self.ids or (0,),
            "task": self.task,
            "queue": self.queue,
            "site": None if self.site is None else self.site.lower().removeprefix("www."),
            "profile": self.profile,
            "batch": self.batch,
            "since": self.since,
        }


def cancel(db: Database, ids: Sequence[int], label: Label, *, running: bool = False) -> int:
    """Move these jobs to the archive if they are still pending, or with `running` at work.

    Return how many were.
    """
    statuses = [Status.PENDING.value, *([Status.IN_PROGRESS.value] if running else [])]
    until = archive.now(db)
    return sum(
        archive.move(
            db,
            ids[start : start + archive.BATCH],
            label,
            until=until,
            statuses=statuses,
            half_done=False,
        ).jobs
        for start in range(0, len(ids), archive.BATCH)
    )


def gone(db: Database, wanted: Gone) -> list[int]:
    """List the discarded and cancelled jobs that are meant, oldest first."""
    found: list[int] = []
    after = -(2**63) + 1
    while True:
        rows = db.fetch_all("discarded_jobs", **wanted.params(), after=after, limit=PAGE)
        found += (row["id"] for row in rows)
        if len(rows) < PAGE:
            return found
        after = rows[-1]["id"]


def bring_back(db: Database, ids: Sequence[int]) -> Iterator[tuple[int, bool]]:
    """Put archived jobs back into the queue one by one, in error or pending as they were.

    Say of each whether that was possible: its dedupe key, or its number, may be another's by now.
    """
    for job_id in ids:
        yield job_id, _bring_back(db, job_id)


def _bring_back(db: Database, job_id: int) -> bool:
    def move(tx: Transaction) -> bool:
        rows = tx.fetch_all("archived_to_bring_back", id=job_id)
        if not rows:
            return False
        key = {"id": job_id, "archived_at": rows[0]["archived_at"]}
        tx.execute("bring_back_job", **key)
        tx.execute("bring_back_attempts", **key)
        tx.execute("forget_archived_attempts", **key)
        tx.execute("forget_archived_job", **key)
        return True

    try:
        return db.transaction(move)
    except DuplicateKey:
        return False
