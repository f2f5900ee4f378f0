"""A second queue, batches that are open and finished, schedules, and jobs that a job added.

Written into the night of `sample_night`; `words` may be hostile.
"""

from __future__ import annotations

import json
from typing import Any

from worker.database.client import Database

_BATCH = (
    "INSERT INTO batches (name, created_at, created_by, finished_at, done, failed, "
    "cancelled) VALUES (%(batch)s, UTC_TIMESTAMP(6) - INTERVAL 90 MINUTE, %(by)s, "
    "IF(%(done)s IS NULL, NULL, UTC_TIMESTAMP(6) - INTERVAL 30 MINUTE), %(done)s, "
    "IF(%(done)s IS NULL, NULL, 0), IF(%(done)s IS NULL, NULL, 0))"
)
_SCHEDULE = (
    "INSERT INTO schedules (name, cron, timezone, if_missed, task, queue, priority, "
    "is_batched, next_at, is_paused, fired_at, fired, missed, set_by, set_at) VALUES "
    "(%(name)s, %(cron)s, 'Europe/Berlin', 'once', 'price', 'default', 0, TRUE, "
    "UTC_TIMESTAMP(6) + INTERVAL 9 HOUR, %(paused)s, UTC_TIMESTAMP(6) - INTERVAL 15 HOUR, "
    "12, 1, %(by)s, UTC_TIMESTAMP(6))"
)
_SCHEDULED_JOBS = (
    "INSERT INTO schedule_jobs (schedule, payload) VALUES (%(name)s, %(one)s), (%(name)s, %(two)s)"
)


def fill(db: Database, words: str, *, first: int) -> None:
    """Write all of it; `first` is the first job that is not done yet."""
    _sql(db, "UPDATE runs SET queues = 'default,slow' WHERE id = 2")
    queue = f"slow {words}"[:50].strip()
    where = f"id >= {first} AND id < {first} + 6"
    _sql(db, f"UPDATE work_queue SET queue = %(queue)s WHERE {where}", queue=queue)
    _sql(db, "UPDATE work_queue SET parent_id = 1, root_id = 1, depth = 1 WHERE id BETWEEN 2 AND 4")
    _sql(db, "UPDATE work_queue SET parent_id = 4, root_id = 1, depth = 2 WHERE id BETWEEN 5 AND 7")
    open_ids = f"id BETWEEN 1 AND 20 OR id BETWEEN 61 AND 64 OR id > {first + 20}"
    _batch(db, words, "monday", open_ids, None)
    _batch(db, words, "sunday", "id BETWEEN 21 AND 30", 10)
    _schedule(db, words, "nightly", "0 18 * * 1-5", is_paused=False)
    _schedule(db, words, "prices", "0 * * * *", is_paused=True)


def _sql(db: Database, text: str, **params: Any) -> None:
    db.run_statement(text, params)


def _batch(db: Database, words: str, name: str, where: str, done: int | None) -> None:
    batch = f"{name} {words}"[:100].strip()
    _sql(db, f"UPDATE work_queue SET batch = %(batch)s WHERE {where}", batch=batch)
    _sql(db, _BATCH, batch=batch, by=f"mara {words}"[:255].strip(), done=done)


def _schedule(db: Database, words: str, name: str, cron: str, *, is_paused: bool) -> None:
    named, by = f"{name} {words}"[:64].strip(), f"mara {words}"[:255].strip()
    _sql(db, _SCHEDULE, name=named, cron=cron, paused=is_paused, by=by)
    url = "https://shop.example.com"
    one, two = (json.dumps({"url": f"{url}/{number}"}) for number in (1, 2))
    _sql(db, _SCHEDULED_JOBS, name=named, one=one, two=two)
