"""Tasks that do nothing, well or badly: what remains is the cost of the queue."""

from __future__ import annotations

from typing import Any

from worker import Job, task

RESULT = {"ok": True}


@task("noop", browser=False)
def noop(page: Any, payload: dict[str, Any], job: Job) -> dict[str, bool]:
    """Do nothing, successfully."""
    return RESULT


@task("fails", browser=False)
def fails(page: Any, payload: dict[str, Any], job: Job) -> None:
    """Do nothing, and fail for a reason that no retry mends."""
    raise RuntimeError("failed as it was meant to")
