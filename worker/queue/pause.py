"""What an operator asks of every pool on a database: pause, and resume.

Kept in the database, so that it holds for all hosts and for runs that start later.
"""

from __future__ import annotations

from worker.database.client import Database, Row, Transaction
from worker.queue import events
from worker.queue.events import EventKind

PAUSED = "paused"


def pause(db: Database, reason: str, by: str) -> None:
    """Let no pool claim anything more until `resume`; jobs in flight are finished."""

    def write(tx: Transaction) -> None:
        tx.execute("set_control", name=PAUSED, reason=reason[:255], set_by=by[:255])
        events.begin(tx, EventKind.PAUSE, "", reason=reason[:255], by=by[:255])

    db.transaction(write)


def resume(db: Database, by: str = "by hand") -> bool:
    """Let pools claim again; tell whether they had been paused."""

    def write(tx: Transaction) -> bool:
        events.end(tx, EventKind.PAUSE, "", resumed_by=by[:255])
        return tx.execute("clear_control", name=PAUSED) > 0

    return db.transaction(write)


def paused(db: Database) -> Row | None:
    """Tell who paused the pools, when and why, if somebody did."""
    return db.fetch_one("get_control", name=PAUSED)
