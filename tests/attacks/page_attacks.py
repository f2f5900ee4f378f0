"""Fixtures for attacks by one page: a hostile site, a browser, tasks run as a worker runs them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.attacks.hostile_site import HostileSite
from tests.browser.conftest import failure, only_session, session
from tests.capturing import capture
from worker.browser.session import BrowserSession
from worker.execution.task_call import run_task
from worker.tasks.job import Job
from worker.tasks.registry import Task

__all__ = ["evidence_of", "failure", "hostile", "only_session", "run", "session"]


@pytest.fixture(scope="module")
def hostile() -> Iterator[HostileSite]:
    site = HostileSite()
    yield site
    site.close()


@pytest.fixture
def run(session: BrowserSession, tmp_path: Path) -> Callable[..., Any]:
    """Run `function(page)` as the task of one job; options are those of `@task`."""

    def run(function: Callable[..., Any], seconds: float = 20, **options: Any) -> Any:
        job = Job(1, 1, 1, "attack", time.monotonic() + seconds, tmp_path / "results")
        task = Task("attack", lambda page, payload, job: function(page), **options)
        return run_task(session, task, {}, job)

    return run


@pytest.fixture
def evidence_of(session: BrowserSession, failure, tmp_path: Path) -> Callable[[], bytes]:
    """Capture the evidence of the job that has just run; return every byte of it."""

    def evidence_of() -> bytes:
        capture(tmp_path / "errors", failure, session)
        files = [path for path in (tmp_path / "errors").rglob("*") if path.is_file()]
        assert {"error.json", "traceback.txt"} <= {path.name for path in files}
        return b"\n".join(path.read_bytes() for path in files)

    return evidence_of
