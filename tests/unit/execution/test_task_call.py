"""A task is run with streams that can be written to, whatever the one before has made of them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from worker.browser.watchdog import Watchdog
from worker.execution.task_call import run_task
from worker.tasks.job import Job
from worker.tasks.registry import Task


@pytest.fixture(autouse=True)
def streams() -> Iterator[None]:
    """Leave the test's own streams as they were."""
    before = [os.get_blocking(fd) for fd in (1, 2)]
    yield
    for fd, is_blocking in enumerate(before, 1):
        os.set_blocking(fd, is_blocking)


def run(function: Any) -> str:
    session: Any = SimpleNamespace(
        page=None,
        recorder=None,
        guards=SimpleNamespace(explain=lambda problem, recorder: None),
        limit=lambda seconds: Watchdog().limit(seconds, lambda: None),
    )
    job = Job(1, 1, 4, "prints", time.monotonic() + 60, Path("/nowhere"))
    return run_task(session, Task(name="prints", function=function, browser=False), {}, job)


def test_a_task_may_print_although_a_program_of_the_one_before_has_made_the_pipe_non_blocking():
    def starts_node(page, payload, job):
        """Do to the pipe what Node does to the stderr that it is given."""
        os.set_blocking(1, False)
        os.set_blocking(2, False)

    run(starts_node)

    assert run(lambda page, payload, job: [os.get_blocking(1), os.get_blocking(2)]) == (
        "[true, true]"
    )
