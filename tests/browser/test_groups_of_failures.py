"""A failed page belongs to its task: what stands between the two is not the place of a failure."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import reserved_port
from worker.evidence.fingerprint import fingerprint, frames_of, project_frame
from worker.execution import task_call
from worker.tasks.job import Job
from worker.tasks.registry import Task

SOURCE = """
def buy(page, payload, job):
    page.goto(payload["url"])

def buy_in_a_context_of_its_own(page, payload, job):
    with page.context.browser.new_context() as own:
        own.new_page().goto(payload["url"])
"""
# Of a page that is guarded, as every page of a job is.
GOLDEN = "7a65394dd989761f"


def failure_of(session, function: str) -> BaseException:
    """Run a task as a worker does, on a page that nobody serves."""
    namespace: dict[str, Any] = {}
    exec(compile(SOURCE, "/srv/tasks/shop.py", "exec"), namespace)  # noqa: S102
    task = Task(name="shop", function=namespace[function])
    job = Job(1, 1, 4, "shop", time.monotonic() + 60, Path("/nowhere"))
    with reserved_port() as port, pytest.raises(Exception) as caught:  # noqa: PT011
        task_call.run_task(session, task, {"url": f"http://127.0.0.1:{port}/"}, job)
    return caught.value


def test_a_page_that_cannot_be_opened_is_its_tasks_group(session):
    error = failure_of(session, "buy")
    # The first frame is this test's.
    frames = frames_of(error)[1:]

    assert project_frame(frames) == "shop.py:buy"
    key, label = fingerprint(type(error).__name__, str(error), "shop", frames)
    assert label == "shop: Error Page.goto: net::ERR_CONNECTION_REFUSED at URL at shop.py:buy"
    assert key == GOLDEN


def test_so_is_one_in_a_context_of_the_tasks_own(session):
    error = failure_of(session, "buy_in_a_context_of_its_own")

    assert project_frame(frames_of(error)[1:]) == "shop.py:buy_in_a_context_of_its_own"
