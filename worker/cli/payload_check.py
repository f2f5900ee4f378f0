"""What `enqueue` makes of a line's payload before it is a job: its URL, its empty cells, its shape.

A task that no file loaded here knows has no shape: of its payloads the URL alone is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from worker.errors import PayloadError
from worker.tasks import params, registry
from worker.tasks.registry import Task
from worker.urls import job_url_problem

VISIT = "visit"


@dataclass(frozen=True, slots=True)
class PayloadCheck:
    """Checks the payloads of one task; calling it raises PayloadError that names the field."""

    check: Callable[[Mapping[str, Any]], object]
    # Fields that a payload may lack: of a CSV file, an empty cell is left out of it.
    optional: frozenset[str] = frozenset()


def of_task(name: str, sources: tuple[str, ...]) -> PayloadCheck:
    """Say how payloads for this task are checked; raises SettingsError for a bad task file."""
    task = registry.load(sources).find(name)
    if name == VISIT:
        return PayloadCheck(_check_visit)
    if task is None:
        return PayloadCheck(_check_url)
    optional = params.optional(task.params) if task.params is not None else frozenset()
    return PayloadCheck(_of_known(task), optional)


def _of_known(task: Task) -> Callable[[Mapping[str, Any]], object]:
    others = tuple(f"{scheme}:" for scheme in task.schemes)
    has_base = "base_url" in task.wishes.context

    def check(payload: Mapping[str, Any]) -> None:
        # Relative to the task's base_url, anything may be an address.
        if task.browser and not has_base:
            _check_url(payload, others)
        task.fit(payload)

    return check


def _check_visit(payload: Mapping[str, Any]) -> None:
    if not isinstance(payload.get("url"), str):
        raise PayloadError('lacks "url"; name its column with --map url=COLUMN')
    _check_url(payload)


def _check_url(payload: Mapping[str, Any], others: tuple[str, ...] = ()) -> None:
    url = payload.get("url")
    if not isinstance(url, str) or (others and url.strip().lower().startswith(others)):
        return
    if problem := job_url_problem(url.strip()):
        raise PayloadError(problem)
