"""Jobs that broke off at an irreversible step and that no sweep has ended yet.

They wait for a person from the moment their worker is gone: nothing else will ever try them again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from worker.database.client import Database
from worker.history import todo
from worker.history.todo import Item, Todo
from worker.models import Status
from worker.queue.claims import Queue
from worker.recovery.sweep import sweep


def everything(db: Database, pending: int | None = None) -> Todo:
    """List what waits for a person, with what the next sweep would add to it."""
    known = todo.everything(db, pending)
    return replace(known, items=[*_half_done(db), *known.items])


def _half_done(db: Database) -> Iterator[Item]:
    at_a_step = {row["id"]: row for row in db.fetch_all("claims_at_irreversible_steps")}
    swept = sweep(db, Queue(db), dry_run=True) if at_a_step else []
    for item in swept:
        row = at_a_step.get(item.job_id)
        if row is not None and item.status is Status.ERROR:
            reason = f"task {row['task']}: {item.reason}; a sweep ends it"
            name = f"job {item.job_id}"
            yield Item("half done", name, reason, row["started_at"], 1, "launcher.py sweep")
