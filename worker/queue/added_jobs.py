"""Jobs that a job's task adds: written in the transaction that finishes the job.

So they come exactly when it is done, and never twice, whatever becomes of worker or connection.
They take over its queue, priority, batch and chain, unless the task has said otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from worker.database.client import Database, Row, Transaction

# What is taken over from the job that adds them.
INHERITED = ("queue", "priority")
SHOWN = 20


def add(tx: Transaction, parent_id: int, rows: Iterable[Mapping[str, Any]]) -> None:
    """Add the jobs of a job that is being finished; one whose dedupe key is taken is left out."""
    (parent,) = tx.fetch_all("parent_of_added_jobs", id=parent_id)
    taken_over = {
        "parent_id": parent_id,
        "root_id": parent["root_id"] or parent_id,
        "batch": parent["batch"],
    }
    tx.insert_many("add_follow_up", [_row(parent, row) | taken_over for row in rows])


def of_job(db: Database, job_id: int, limit: int = SHOWN) -> list[Row]:
    """List jobs that one job has added, the first ones, with how each stands."""
    return db.fetch_all("jobs_added_by", id=job_id, limit=limit)


def count(db: Database, job_id: int) -> int:
    """Count the jobs that one job has added, archived ones included."""
    return int(db.fetch_all("count_jobs_added_by", id=job_id)[0]["jobs"])


def _row(parent: Row, given: Mapping[str, Any]) -> dict[str, Any]:
    row = dict(given)
    for name in INHERITED:
        if row[name] is None:
            row[name] = parent[name]
    if row["depth"] is None:
        row["depth"] = parent["depth"] + 1
    return row
