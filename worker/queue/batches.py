"""Batches: jobs that were added together, and told of once when all of them are finished.

A finish writes nothing about its batch. Who watches keeps one unfinished job of each open batch in
mind and looks for the next one when that is finished; at the end it walks through the batch once
more. The end is a guarded write with its event, so that of many watchers one tells.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field

from worker.database.client import Database, Row, Transaction

FIRST_ID = -(2**63) + 1
WINDOW = 5_000
LOOK_SECONDS = 0.2
DISCOVER_SECONDS = 30.0

logger = logging.getLogger("nightshift.queue")


def add(tx: Transaction, name: str, by: str, callback_url: str | None = None) -> None:
    """Open a batch, or open it again: jobs are added to it in the same transaction."""
    tx.execute("add_to_batch", name=name, by=by[:255], callback_url=callback_url)


def recent(db: Database, limit: int = 10) -> list[Row]:
    """List the open batches and those that ended within a day, the newest first."""
    return db.fetch_all("recent_batches", limit=limit)


def progress(db: Database, name: str, seconds: float = LOOK_SECONDS) -> dict[str, int | bool]:
    """Count the jobs of a batch that are finished and that are not, for a moment at most."""
    walk, deadline = Walk(name, 0), time.monotonic() + seconds
    unfinished = 0
    while time.monotonic() < deadline:
        row = walk.read(db)
        if not row["seen"]:
            return {"unfinished": unfinished, "done": walk.done, "failed": walk.failed}
        unfinished += int(row["unfinished"])
        walk.take(row)
    return {"unfinished": unfinished, "done": walk.done, "failed": walk.failed, "or_more": True}


@dataclass(slots=True)
class Walk:
    """One walk through the jobs of a batch, in the order of their ids."""

    name: str
    additions: int
    after: int = FIRST_ID
    # The first job that was not finished; the walk stops there.
    witness: int | None = None
    # Whether it has come from the first job to here without a stop.
    is_whole: bool = True
    done: int = 0
    failed: int = 0

    def read(self, db: Database) -> Row:
        """Read the next window of jobs, by the index."""
        return db.fetch_all("window_of_batch", name=self.name, after=self.after, limit=WINDOW)[0]

    def take(self, row: Row) -> None:
        """Go on behind a window."""
        self.after = int(row["last"])
        self.done += int(row["done"])
        self.failed += int(row["failed"])


@dataclass(slots=True)
class BatchWatch:
    """What one watcher knows of the open batches."""

    db: Database
    default_callback: str | None = None
    _walks: dict[str, Walk] = field(default_factory=dict)
    _discover_at: float = 0.0

    def look(self, seconds: float = LOOK_SECONDS) -> list[str]:
        """Look which batches are finished, for a moment at most; return those it has told of."""
        self._discover()
        rows = self.db.fetch_all("open_batches")
        self._walks = {row["name"]: self._walk_of(row) for row in rows}
        stuck = self._still_unfinished()
        deadline = time.monotonic() + seconds
        moving = [walk for walk in self._walks.values() if walk.witness not in stuck]
        return [walk.name for walk in moving if self._go_on(walk, deadline)]

    def _discover(self) -> None:
        """Take note of batches that somebody has named in plain SQL."""
        if time.monotonic() >= self._discover_at:
            for row in self.db.fetch_all("unopened_batches"):
                self.db.execute("note_batch", name=row["name"])
            self._discover_at = time.monotonic() + DISCOVER_SECONDS

    def _walk_of(self, row: Row) -> Walk:
        known = self._walks.get(row["name"])
        if known is None or known.additions != row["additions"]:
            return Walk(row["name"], row["additions"])
        return known

    def _still_unfinished(self) -> set[int | None]:
        ids = tuple(walk.witness for walk in self._walks.values() if walk.witness is not None)
        found = self.db.fetch_all("unfinished_among", ids=ids) if ids else []
        return {row["id"] for row in found}

    def _go_on(self, walk: Walk, deadline: float) -> bool:
        """Walk on until an unfinished job, the end, or the time is over; tell at the end."""
        if walk.witness is not None:
            walk.witness, walk.is_whole = None, False
        while True:
            row = walk.read(self.db)
            if row["first_unfinished"] is not None:
                walk.witness = int(row["first_unfinished"])
                walk.after = walk.witness - 1
                return False
            if row["seen"]:
                walk.take(row)
            elif walk.is_whole:
                return self._tell(walk)
            else:
                # What was finished when it was passed may have been put back since.
                walk.after, walk.is_whole, walk.done, walk.failed = FIRST_ID, True, 0, 0
            if time.monotonic() >= deadline:
                return False

    def _tell(self, walk: Walk) -> bool:
        gone = self.db.fetch_all("archived_of_batch", name=walk.name)[0]
        counts = {
            "done": walk.done + int(gone["done"]),
            "failed": walk.failed + int(gone["failed"]),
            "cancelled": int(gone["cancelled"]),
        }

        def write(tx: Transaction) -> bool:
            guard = {"name": walk.name, "additions": walk.additions}
            if tx.execute("finish_batch", **guard, **counts) != 1:
                tx.discard()
                return False
            tx.execute("event_of_batch", **guard, default_callback=self.default_callback)
            return True

        has_told = self.db.transaction(write)
        if has_told:
            logger.info(
                "batch %s is finished: %d done, %d failed, %d cancelled",
                *(walk.name, counts["done"], counts["failed"], counts["cancelled"]),
            )
        return has_told
