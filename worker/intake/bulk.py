"""Adding many jobs at once: all of them, or none."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import AbstractContextManager
from datetime import datetime

from worker.database.bulk_insert import Block, BulkInsert
from worker.database.client import Database
from worker.models import DEFAULT_QUEUE, JSON

_USUAL: dict[str, object] = {
    "queue": DEFAULT_QUEUE,
    "batch": None,
    "dedupe_across_tasks": False,
    "priority": 0,
    "not_before": None,
    "max_attempts": None,
    "callback_url": None,
}


def open_bulk(
    db: Database,
    task: str,
    *,
    queue: str = DEFAULT_QUEUE,
    dedupe_across_tasks: bool = False,
    batch: str | None = None,
    batch_callback: str | None = None,
    by: str = "",
    priority: int = 0,
    not_before: datetime | None = None,
    max_attempts: int | None = None,
    callback_url: str | None = None,
    routed: bool = False,
    order_on_failure: str | None = None,
) -> AbstractContextManager[BulkInsert]:
    """Open a bulk insert of (payload as JSON, dedupe key) rows: all are added, or none.

    A `batch` is opened with them, by whoever `by` names. `routed` rows have a profile, an account
    and an order key as well.
    """
    opening = None
    if batch is not None:
        told = {"name": batch, "by": by[:255], "callback_url": batch_callback}
        opening = ("add_to_batch", told)
    values: dict[str, object] = {
        "queue": queue,
        "batch": batch,
        "dedupe_across_tasks": dedupe_across_tasks,
        "priority": priority,
        "not_before": not_before,
        "max_attempts": max_attempts,
        "callback_url": callback_url,
    }
    if routed:
        values["order_on_failure"] = order_on_failure
        return db.bulk_insert("enqueue_routed_jobs", opening, task=task, **values)
    # What the server fills in by itself need not be sent and read a million times.
    name = "enqueue_plain_jobs" if values == _USUAL else "enqueue_jobs"
    return db.bulk_insert(name, opening, task=task, **values)


def add_many(db: Database, task: str, payloads: Iterable[JSON]) -> int:
    """Add many jobs of one task; return how many."""
    rows = ((json.dumps(payload), None) for payload in payloads)
    with open_bulk(db, task) as bulk:
        for _ in bulk.run(rows):
            pass
    return bulk.inserted


def ids_of(db: Database, blocks: Iterable[Block]) -> list[range]:
    """Say which ids a bulk insert has given, in stretches.

    A statement has its ids in a row. Those of rows that were there already are left out: then they
    are looked up, of which those from its first on are its own.
    """
    step = int(db.fetch_all("id_step")[0]["step"])
    found: list[range] = []
    for first, rows, inserted in blocks:
        if inserted == rows:
            found.append(range(first, first + step * rows, step))
        elif inserted:
            ids = db.fetch_all("ids_from", first=first, step=step, limit=inserted)
            found += [range(row["id"], row["id"] + 1) for row in ids]
    return _joined(found)


def _joined(stretches: list[range]) -> list[range]:
    """Join stretches that go on where another ends."""
    found: list[range] = []
    for each in stretches:
        if found and each.step == found[-1].step == 1 and each.start == found[-1].stop:
            found[-1] = range(found[-1].start, each.stop)
        else:
            found.append(each)
    return found
