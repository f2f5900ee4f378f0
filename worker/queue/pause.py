"""What an operator asks of every pool on a database: pause, and resume.

Kept in the database, so that it holds for all hosts and for runs that start later.
"""

from __future__ import annotations

from worker.database.client import Database, Row

PAUSED = "paused"


def pause(db: Database, reason: str, by: str) -> None:
    """Let no pool claim anything more until `resume`; jobs in flight are finished."""
    db.execute("set_control", name=PAUSED, reason=reason[:255], set_by=by[:255])


def resume(db: Database) -> bool:
    """Let pools claim again; tell whether they had been paused."""
    return db.execute("clear_control", name=PAUSED) > 0


def paused(db: Database) -> Row | None:
    """Tell who paused the pools, when and why, if somebody did."""
    return db.fetch_one("get_control", name=PAUSED)
