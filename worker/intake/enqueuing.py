"""`enqueue(task, payload, …)` for Python programs, also within a transaction of their own.

Given a connection, the job is one INSERT on it and nothing else: it comes and goes with whatever
else the caller commits or rolls back. Importing this costs nothing: no driver, no connection.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

from worker.database.server_errors import DUPLICATE_KEY
from worker.database.statements import query
from worker.errors import DuplicateKey, PayloadError, UsageError
from worker.intake.dedupe_keys import MAX_DEDUPE_KEY, fitting
from worker.intake.jobs import MAX_ORDER_KEY, as_text, check_order
from worker.models import DEFAULT_QUEUE, MAX_BATCH_NAME, ORDER_ON_FAILURE
from worker.profiles import manifest
from worker.project_file import load_settings
from worker.queue_names import queue_problem
from worker.tasks.registry import task_of
from worker.tracing.traceparent import FIELD, is_well_formed

# The widths of their columns: a connection that is not strict would cut what is longer.
WIDTHS = {
    "task": 64,
    "batch": MAX_BATCH_NAME,
    "dedupe_key": MAX_DEDUPE_KEY,
    "callback_url": 2048,
    "profile_id": 64,
    "account_id": 64,
    "order_key": MAX_ORDER_KEY,
}
INTEGERS = {
    "priority": (-(2**31), 2**31 - 1),
    "max_attempts": (1, 2**31 - 1),
    "timeout_seconds": (1, 2**31 - 1),
}


def enqueue(
    task: str | Callable[..., Any],
    payload: Any,
    *,
    connection: Any = None,
    queue: str = DEFAULT_QUEUE,
    batch: str | None = None,
    priority: int = 0,
    not_before: datetime | None = None,
    max_attempts: int | None = None,
    timeout_seconds: int | None = None,
    dedupe_key: str | None = None,
    dedupe_across_tasks: bool = False,
    callback_url: str | None = None,
    profile_id: str | None = None,
    account_id: str | None = None,
    order_key: str | None = None,
    order_on_failure: str | None = None,
    traceparent: str | None = None,
) -> int | None:
    """Add one job and return its id; None when its task has a job with that dedupe key already.

    `task` is a name or a function marked with `@task`, which then checks the payload: a dict, or
    the dataclass it declares. With `connection`, any DB-API connection to the queue's database, the
    commit is yours; without one the settings say where the queue is. A `not_before` without a zone
    is local time. Jobs of one `order_key` run by id; `order_on_failure` (wait, skip or stop) is for
    those behind. `traceparent` links the job's spans to yours. Raises PayloadError or UsageError,
    and adds nothing, when it cannot be meant.
    """
    if traceparent is not None:
        payload = _with_trace(payload, traceparent)
    row = row_of(
        task, payload, queue=queue, batch=batch, priority=priority, not_before=not_before,
        max_attempts=max_attempts, timeout_seconds=timeout_seconds, dedupe_key=dedupe_key,
        dedupe_across_tasks=dedupe_across_tasks,
        callback_url=callback_url, profile_id=profile_id, account_id=account_id,
        order_key=order_key, order_on_failure=order_on_failure,
    )  # fmt: skip
    return _insert_by_settings(row) if connection is None else _insert(connection, row)


def row_of(
    task: str | Callable[..., Any],
    payload: Any,
    *,
    not_before: datetime | None = None,
    **columns: Any,
) -> dict[str, Any]:
    """Give a job's columns as they are stored; raises PayloadError or UsageError for wrong ones."""
    order_key = columns["order_key"]
    row: dict[str, Any] = {
        "task": task if isinstance(task, str) else task_of(task).name,
        "payload": _as_json(
            task,
            payload,
            columns["profile_id"],
            columns["account_id"],
            has_order=order_key is not None,
        ),
        "not_before": _utc(not_before),
        **columns,
    }
    if isinstance(row["dedupe_key"], str):
        row["dedupe_key"] = fitting(row["dedupe_key"])
    _check(row)
    return row


def _insert(connection: Any, row: Mapping[str, Any]) -> int | None:
    if not hasattr(connection, "cursor"):
        raise UsageError(
            f"enqueue: connection={type(connection).__name__} has no cursor(); give a DB-API "
            f"connection (from SQLAlchemy: session.connection().connection)"
        )
    cursor = connection.cursor()
    try:
        if row["batch"] is not None:
            cursor.execute(query("add_to_batch"), _opening(row))
        cursor.execute(query("enqueue_one"), row)
        return int(cursor.lastrowid)
    except Exception as error:
        # Told by its number, because every driver has exceptions of its own. The server has undone
        # the statement and nothing else: the caller's transaction goes on.
        if row["dedupe_key"] is not None and DUPLICATE_KEY in (error.args or (None,))[:1]:
            return None
        raise
    finally:
        cursor.close()


def _insert_by_settings(row: Mapping[str, Any]) -> int | None:
    # Here, so that task files, which import this package, do not load a database driver.
    from worker.database import migrations
    from worker.database.client import Database
    from worker.database.connection import resolve

    environ = dict(os.environ)
    load_settings(environ)
    with closing(Database(resolve(environ))) as db:
        migrations.ensure(db)
        try:
            if row["batch"] is None:
                return db.insert("enqueue_one", **row)
            return db.transaction(lambda tx: _add_to_batch(tx, row))
        except DuplicateKey:
            return None


def _add_to_batch(tx: Any, row: Mapping[str, Any]) -> int:
    tx.execute("add_to_batch", **_opening(row))
    return int(tx.insert("enqueue_one", **row))


def _opening(row: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": row["batch"], "by": "enqueue()", "callback_url": None}


def _as_json(
    task: str | Callable[..., Any],
    payload: Any,
    profile: str | None,
    account: str | None,
    *,
    has_order: bool,
) -> str:
    if dataclasses.is_dataclass(payload) and not isinstance(payload, type):
        payload = dataclasses.asdict(payload)
    if not isinstance(payload, dict):
        raise PayloadError(
            f"the payload is of type {type(payload).__name__}; give a dict, such as "
            f'{{"url": "https://example.com"}}'
        )
    as_text(payload)
    check_order(manifest.check(payload, profile, account), has_key=has_order)
    if not isinstance(task, str):
        task_of(task).fit(payload)
    # In ASCII, because the caller's connection may have any character set.
    return json.dumps(payload)


def _with_trace(payload: Any, found: str) -> Any:
    if not is_well_formed(found):
        raise UsageError(f"enqueue: traceparent={found!r:.80}; give a W3C one: 00-…-…-01")
    if dataclasses.is_dataclass(payload) and not isinstance(payload, type):
        payload = dataclasses.asdict(payload)
    # What is no dict is refused like any other payload.
    return {**payload, FIELD: found} if isinstance(payload, dict) else payload


def _utc(moment: datetime | None) -> datetime | None:
    return None if moment is None else moment.astimezone(UTC).replace(tzinfo=None)


def _check(row: Mapping[str, Any]) -> None:
    _check_choices(row)
    for name, width in WIDTHS.items():
        text = row[name]
        if text is None and name != "task":
            continue
        if not isinstance(text, str) or not 1 <= len(text) <= width:
            raise UsageError(
                f"enqueue: {name}={text!r:.80}; give a text of 1 to {width} characters"
            )
    for name, (low, high) in INTEGERS.items():
        number = row[name]
        if number is None and name != "priority":
            continue
        if not isinstance(number, int) or isinstance(number, bool) or not low <= number <= high:
            raise UsageError(f"enqueue: {name}={number!r:.80}; give a whole number from {low} up")


def _check_choices(row: Mapping[str, Any]) -> None:
    if problem := queue_problem(str(row["queue"])):
        raise UsageError(f"enqueue: queue={row['queue']!r:.80}; {problem}")
    if (choice := row["order_on_failure"]) is not None:
        if choice not in ORDER_ON_FAILURE:
            raise UsageError(
                f"enqueue: order_on_failure={choice!r:.80}; use {', '.join(ORDER_ON_FAILURE)}"
            )
        if row["order_key"] is None:
            raise UsageError("enqueue: order_on_failure is for jobs with an order_key")
