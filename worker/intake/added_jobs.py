"""The jobs that a task adds, as rows: checked when it asks for them, and fit for the journal."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from worker.errors import UsageError
from worker.evidence import known_secrets
from worker.intake.enqueuing import row_of
from worker.models import DEFAULT_QUEUE
from worker.queue.added_jobs import INHERITED

_OPTIONS = (
    "queue",
    "priority",
    "max_attempts",
    "timeout_seconds",
    "dedupe_key",
    "dedupe_across_tasks",
    "callback_url",
    "profile_id",
    "account_id",
    "order_key",
    "order_on_failure",
)


_USUAL: dict[str, Any] = {"queue": DEFAULT_QUEUE, "priority": 0}


def row(
    task: str | Callable[..., Any],
    payload: Any,
    *,
    depth: int | None = None,
    not_before: datetime | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Check one job and give its columns, as JSON can hold them; None is taken over.

    Raises PayloadError or UsageError when it cannot be meant.
    """
    if strange := options.keys() - set(_OPTIONS):
        raise UsageError(f"job.enqueue: there is no option {', '.join(sorted(strange))}")
    if depth is not None and not (isinstance(depth, int) and 0 <= depth <= 2**31 - 1):
        raise UsageError(f"job.enqueue: depth={depth!r:.80}; give a whole number from 0 up")
    columns = dict.fromkeys(_OPTIONS) | options
    taken_over = {name: None for name in INHERITED if columns[name] is None}
    usual = {name: value for name, value in _USUAL.items() if name in taken_over}
    made = row_of(task, payload, not_before=not_before, batch=None, **(columns | usual))
    moment = made["not_before"]
    # A secret that was read by its name is the pool's, even in what a task passes on.
    return (
        made
        | taken_over
        | {
            "payload": known_secrets.mask_result(made["payload"]),
            "not_before": None if moment is None else moment.isoformat(sep=" "),
            "depth": depth,
            "dedupe_across_tasks": bool(made["dedupe_across_tasks"]),
        }
    )
