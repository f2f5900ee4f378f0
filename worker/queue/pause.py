"""What an operator asks of every pool on a database: pause all queues or some, and resume.

Kept in the database, so that it holds for all hosts and for runs that start later.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from worker.database.client import Database, Row, Transaction
from worker.queue import events
from worker.queue.events import EventKind

PAUSED = "paused"


def pause(db: Database, reason: str, by: str, queue: str | None = None) -> None:
    """Let no pool claim anything more of a queue, or at all, until `resume`.

    Jobs in flight are finished.
    """

    def write(tx: Transaction) -> None:
        tx.execute("set_control", name=_name(queue), reason=reason[:255], set_by=by[:255])
        events.begin(tx, EventKind.PAUSE, queue or "", reason=reason[:255], by=by[:255])

    db.transaction(write)


def resume(db: Database, by: str = "by hand", queue: str | None = None) -> bool:
    """Let pools claim again; tell whether they had been paused."""

    def write(tx: Transaction) -> bool:
        events.end(tx, EventKind.PAUSE, queue or "", resumed_by=by[:255])
        return tx.execute("clear_control", name=_name(queue)) > 0

    return db.transaction(write)


def paused(db: Database) -> Row | None:
    """Tell who paused the pools, when and why, if somebody did."""
    return db.fetch_one("get_control", name=PAUSED)


@dataclass(frozen=True, slots=True)
class Pauses:
    """What is paused now, each with who did it, when and why."""

    everything: Row | None
    queues: list[Row]


def all_pauses(db: Database) -> Pauses:
    """List what is paused: everything, single queues, or both; in one statement."""
    rows = db.fetch_all("controls_like", pattern=f"{PAUSED}%")
    return Pauses(next((row for row in rows if row["name"] == PAUSED), None), _by_queue(rows))


def paused_queues(db: Database) -> list[Row]:
    """List the queues that are paused by themselves, each with who did it, when and why."""
    return _by_queue(db.fetch_all("controls_like", pattern=f"{PAUSED}:%"))


def holds(db: Database, queues: Collection[str]) -> Row | None:
    """Tell what holds a whole run: a pause of everything, or of each of its queues."""
    rows = db.fetch_all("controls_like", pattern=f"{PAUSED}%")
    asked = {row["name"]: row for row in rows}
    if PAUSED in asked:
        return asked[PAUSED]
    named = [asked.get(_name(queue)) for queue in queues]
    return named[0] if named and all(named) else None


def _by_queue(rows: list[Row]) -> list[Row]:
    prefix = f"{PAUSED}:"
    return [
        {**row, "queue": row["name"].removeprefix(prefix)}
        for row in rows
        if row["name"].startswith(prefix)
    ]


def _name(queue: str | None) -> str:
    return PAUSED if queue is None else f"{PAUSED}:{queue}"
