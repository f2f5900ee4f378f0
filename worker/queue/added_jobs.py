"""Jobs that a job's task adds: written in the transaction that finishes the job.

So they come exactly when it is done, and never twice, whatever becomes of worker or connection.
They take over its queue, priority, batch and chain, unless the task has said otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class AddedJobs:
    """Jobs that one job has added: the first of them, and how many there are."""

    first: list[Row]
    number: int


def of_job(db: Database, job_id: int, limit: int = SHOWN) -> AddedJobs:
    """Read which jobs one job has added and how each stands, archived ones included."""
    rows = db.fetch_all("jobs_added_by", id=job_id, limit=limit)
    number = int(rows[0]["number"]) if rows else 0
    first = [{name: row[name] for name in ("id", "task", "status")} for row in rows]
    return AddedJobs(first, number)


def _row(parent: Row, given: Mapping[str, Any]) -> dict[str, Any]:
    row = dict(given)
    for name in INHERITED:
        if row[name] is None:
            row[name] = parent[name]
    if row["depth"] is None:
        row["depth"] = parent["depth"] + 1
    return row
