"""A pytest fixture for tests of one's own tasks: `pytest_plugins = ["nightshift.testing"]`.

`run_task(function, {"url": …})` runs a task in a real browser, as a worker would, and returns its
result or raises what it raised.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from worker.browser.browser_choice import BrowserChoice
from worker.execution.rehearsal import Rehearsal, rehearse
from worker.models import JSON
from worker.tasks.registry import Task, task_of

RunTask = Callable[..., JSON]


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

    def run(function: Callable[..., Any] | Task, payload: dict[str, Any]) -> JSON:
        nightshift_browser.results_dir = tmp_path
        try:
            return nightshift_browser.run(task_of(function), payload)
        finally:
            nightshift_browser.forget()

    return run
