"""What people have done, kept for good: who, when, what, to which things and to how many.

A row is written before the deed and completed after it, so that a deed which broke off is seen too.
"""

from __future__ import annotations

from dataclasses import dataclass

from worker.database.client import Database, Row


@dataclass(frozen=True, slots=True)
class Deed:
    """What somebody is about to do."""

    who: str
    role: str
    action: str
    scope: str
    reason: str = ""
    address: str = ""


def begin(db: Database, deed: Deed) -> int:
    """Keep that somebody is about to do something; return the number of the row."""
    return db.insert(
        "begin_deed",
        who=deed.who[:255],
        role=deed.role[:16],
        action=deed.action[:64],
        scope=deed.scope[:500],
        reason=deed.reason[:255],
        address=deed.address[:64],
    )


def end(db: Database, number: int, *, count: int, outcome: str) -> None:
    """Keep what came of it: how many things it was done to, and what was said."""
    db.execute("end_deed", id=number, number=count, outcome=outcome[:500])


def latest(db: Database, limit: int, before: int | None = None) -> list[Row]:
    """List the latest deeds, the newest first; `before` continues behind that number."""
    return db.fetch_all("latest_deeds", before=before, limit=limit)
