"""Adding many jobs at once: all of them, or none."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import AbstractContextManager
from datetime import datetime

from worker.database.bulk_insert import BulkInsert
from worker.database.client import Database
from worker.models import JSON


def open_bulk(
    db: Database,
    task: str,
    *,
    priority: int = 0,
    not_before: datetime | None = None,
    max_attempts: int | None = None,
    callback_url: str | None = None,
    routed: bool = False,
    order_on_failure: str | None = None,
) -> AbstractContextManager[BulkInsert]:
    """Open a bulk insert of (payload as JSON, dedupe key) rows: all are added, or none.

    `routed` rows have a profile, an account and an order key as well.
    """
    routing = {"order_on_failure": order_on_failure} if routed else {}
    return db.bulk_insert(
        "enqueue_routed_jobs" if routed else "enqueue_jobs",
        task=task,
        priority=priority,
        not_before=not_before,
        max_attempts=max_attempts,
        callback_url=callback_url,
        **routing,
    )


def add_many(db: Database, task: str, payloads: Iterable[JSON]) -> int:
    """Add many jobs of one task; return how many."""
    rows = ((json.dumps(payload), None) for payload in payloads)
    with open_bulk(db, task) as bulk:
        for _ in bulk.run(rows):
            pass
    return bulk.inserted
