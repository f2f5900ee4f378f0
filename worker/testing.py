"""A pytest fixture for tests of one's own tasks: `pytest_plugins = ["nightshift.testing"]`.

`run_task(function, {"url": …})` runs a task in a real browser, as a worker would, and returns its
result or raises what it raised. `run_task.follow_ups` are the jobs that it has added.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from worker.browser.browser_choice import BrowserChoice
from worker.execution.rehearsal import Rehearsal, rehearse
from worker.models import JSON
from worker.tasks.registry import Task, task_of


class RunTask:
    """Runs tasks, and keeps what jobs the last one has added."""

    def __init__(self, rehearsal: Rehearsal) -> None:
        self._rehearsal = rehearsal

    def __call__(self, function: Callable[..., Any] | Task, payload: dict[str, Any]) -> JSON:
        """Run a task and return its result; raises what it raises, or what a run would refuse."""
        try:
            return self._rehearsal.run(task_of(function), payload)
        finally:
            self._rehearsal.forget()

    @property
    def follow_ups(self) -> list[dict[str, Any]]:
        """The jobs that the last task has added, with what it named: `task`, `payload`, …"""
        return [
            {name: value for name, value in row.items() if value is not None}
            | {"payload": json.loads(row["payload"])}
            for row in self._rehearsal.follow_ups
        ]


@pytest.fixture(scope="session")
def nightshift_browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rehearsal]:
    """One browser for all tests of the session."""
    results = tmp_path_factory.mktemp("results")
    browser = BrowserChoice(browser=os.environ.get("NIGHTSHIFT_BROWSER"))
    with rehearse(results, browser) as rehearsal:
        yield rehearsal


@pytest.fixture
def run_task(nightshift_browser: Rehearsal, tmp_path: Path) -> RunTask:
    """Run a task on a payload; what it attaches goes to `tmp_path`."""
    nightshift_browser.results_dir = tmp_path
    return RunTask(nightshift_browser)
