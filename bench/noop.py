"""A task that does nothing: what remains is the cost of the queue."""

from __future__ import annotations

from typing import Any

from worker import Job, task

RESULT = {"ok": True}


@task("noop", browser=False)
def noop(page: Any, payload: dict[str, Any], job: Job) -> dict[str, bool]:
    """Do nothing, successfully."""
    return RESULT
