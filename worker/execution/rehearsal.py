"""Running a task by hand, for real: to try it, to reproduce a failure, to test it.

What the task gets is exactly what a worker would give it; what it raises is raised here.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from worker.browser import trace_file
from worker.browser.browser_choice import BrowserChoice
from worker.browser.session import BrowserSession
from worker.errors import Fail
from worker.evidence import known_secrets
from worker.execution.job_wishes import JobWishes
from worker.execution.task_call import run_task
from worker.installation import command_line
from worker.intake import added_jobs
from worker.models import JSON
from worker.proxies.proxy import Proxy
from worker.tasks.job import Job, follow_ups_of
from worker.tasks.registry import Task
from worker.tasks.wishes import NONE


@dataclass(slots=True)
class Rehearsal:
    """A browser of one's own, and a folder for what tasks keep."""

    session: BrowserSession
    results_dir: Path
    timeout_seconds: float = 600.0
    wishes: JobWishes = field(default_factory=JobWishes)
    # The jobs that the task of the last `run` would have added: none, if it failed.
    follow_ups: tuple[dict[str, Any], ...] = ()

    def run(
        self,
        task: Task,
        payload: dict[str, Any],
        *,
        job_id: int | None = None,
        is_half_done: bool = False,
        trace: Path | None = None,
        on_step: Callable[[str], None] = lambda text: None,
    ) -> JSON:
        """Run a task on a payload and return its result; `trace` keeps a recording of it.

        A job of the queue, `job_id`, is stopped before its first irreversible step: it may have
        been taken already, and only a run takes it.
        """
        self.follow_ups = ()
        known_secrets.begin(payload)
        shaped = task.fit(payload)
        seconds = task.timeout_seconds or self.timeout_seconds
        take = on_step if job_id is None else partial(_refuse, job_id, is_half_done)
        job = self._job(task.name, job_id or 0, seconds, on_step, take)
        is_clean = False
        try:
            wishes = self.wishes.of(task, payload) if task.browser else NONE
            text = run_task(self.session, task, shaped, job, trace=trace is not None, wishes=wishes)
            is_clean = True
            self.follow_ups = follow_ups_of(job)
            result: JSON = json.loads(text)
            return result
        finally:
            if trace is not None:
                self._keep_trace(trace)
            if is_clean:
                self.session.release(clean=True)

    def _job(
        self,
        task: str,
        job_id: int,
        seconds: float,
        on_step: Callable[[str], None],
        on_irreversible: Callable[[str], None],
    ) -> Job:
        """Make the job that the task is given: its first attempt, and its last."""
        return Job(
            id=job_id,
            attempt=1,
            max_attempts=1,
            task=task,
            deadline=time.monotonic() + seconds,
            timeout_seconds=seconds,
            results_dir=self.results_dir,
            _make_row=added_jobs.row,
            _on_step=on_step,
            _on_undone=on_step,
            _on_irreversible=on_irreversible,
        )

    def _keep_trace(self, trace: Path) -> None:
        raw = trace_file.raw_path(self.session.options.tmp_dir)
        if (tab := self.session.tab) is not None and self.session.is_alive:
            with self.session.limit(20.0):
                tab.stop_trace(raw)
        if raw.exists():
            trace_file.keep_masked(raw, trace)

    def forget(self) -> None:
        """Throw the page of a failed task away, after its evidence was taken."""
        self.session.release(clean=False)


@contextmanager
def rehearse(
    results_dir: Path,
    browser: BrowserChoice,
    *,
    timeout: float = 30.0,
    proxy: Proxy | None = None,
) -> Iterator[Rehearsal]:
    """Have a browser for tasks, behind a proxy if one is given, and nothing of it left later."""
    with tempfile.TemporaryDirectory(prefix="nightshift-") as folder:
        options = browser.options(Path(folder) / "browser", page_timeout_seconds=timeout)
        session = BrowserSession(options)
        session.use_proxy(proxy)
        session.open()
        try:
            yield Rehearsal(session, results_dir, wishes=JobWishes(browser.wishes))
        finally:
            session.close()


def _refuse(job_id: int, is_half_done: bool, step: str) -> None:
    way = f"to have it done: {command_line('retry', '--id', job_id)}"
    if is_half_done:
        way = (
            f"it may be half done: look at the site, and only if it was not done: "
            f"{command_line('retry', '--half-done', '--id', job_id)}"
        )
    raise Fail(
        f"stopped before {step!r}: a job of the queue takes irreversible steps in a run only; {way}"
    )
