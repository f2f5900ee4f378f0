"""A task as it is now, run on the page at which a job failed: offline, and without consequences.

Of what a task does beyond its page, nothing happens: no job is added, no file kept, no irreversible
step taken. It is told instead. What would need the network ends the rehearsal of that job.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from worker.browser.offline_pages import OfflinePages, offline_pages
from worker.browser.options import BrowserOptions, find_browser
from worker.browser.session import BrowserSession
from worker.database.client import Row
from worker.errors import Fail, LaunchFailed
from worker.evidence import captured_pages, known_secrets
from worker.evidence.captured_pages import CapturedPage
from worker.evidence.redaction import redact_text
from worker.execution.task_call import parse_payload, run_task
from worker.execution.verdict import describe
from worker.intake import added_jobs
from worker.models import JSON
from worker.system.no_network import without_network
from worker.tasks.job import Job, follow_ups_of
from worker.tasks.registry import Task

# Nothing more comes after what was captured, unless its scripts run.
PAGE_SECONDS, PAGE_SECONDS_WITH_SCRIPTS = 2.0, 5.0
MAX_JOB_SECONDS = 60.0


class Outlook(StrEnum):
    """What a rehearsal says of a job."""

    PASSES = "passes"
    FAILS = "fails"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsed:
    """How one job went. `reason` says why it fails, or why nobody can say."""

    job_id: int
    outlook: Outlook
    result: JSON = None
    reason: str | None = None
    # The irreversible step before which it was stopped: as far as that it passes.
    stopped_before: str | None = None
    # What it would have done besides.
    follow_ups: int = 0
    files: tuple[str, ...] = ()


class _Stopped(Fail):
    """Raised in a task that is about to take an irreversible step."""


@dataclass(slots=True)
class OfflineRehearsal:
    """A browser without a network, for one job after the other."""

    session: BrowserSession
    pages: OfflinePages
    _stopped_before: str | None = field(default=None, init=False)

    def run(self, task: Task, row: Row, evidence: Path | str) -> Rehearsed:
        """Rehearse a job on the page in this folder of evidence, or say why that is not possible.

        Raises LaunchFailed without a browser; nothing that the task does is raised.
        """
        known_secrets.begin(row["payload"])
        try:
            captured = captured_pages.read(evidence) if isinstance(evidence, Path) else evidence
            if isinstance(captured, str):
                return _unknown(row["id"], captured)
            with tempfile.TemporaryDirectory(prefix="nightshift-") as folder:
                return self._run(task, row, captured, Path(folder))
        finally:
            self.session.release(clean=False)
            known_secrets.end()

    def _run(self, task: Task, row: Row, captured: CapturedPage, folder: Path) -> Rehearsed:
        self.pages.show(captured)
        self._stopped_before = None
        refused: list[str] = []

        def offline(page: Any, payload: Any, job: Job) -> Any:
            with without_network() as heard:
                try:
                    return task.function(page, payload, job)
                finally:
                    refused.extend(heard)

        job = self._new_job(task, row, folder)
        # A page that served another job would show that one's.
        alone = replace(task, function=offline, isolation="context")
        error, result = None, None
        try:
            shaped = task.fit(parse_payload(row["payload"]))
            result = json.loads(run_task(self.session, alone, shaped, job))
        except (KeyboardInterrupt, LaunchFailed):
            raise
        except BaseException as problem:
            error = problem
        told = self._judged(row["id"], captured, refused, error)
        files = tuple(sorted(path.name for path in folder.rglob("*") if path.is_file()))
        return replace(told, result=result, files=files, follow_ups=len(follow_ups_of(job)))

    def _judged(
        self,
        job_id: int,
        captured: CapturedPage,
        refused: list[str],
        error: BaseException | None,
    ) -> Rehearsed:
        if error is None:
            return Rehearsed(job_id=job_id, outlook=Outlook.PASSES)
        if isinstance(error, _Stopped):
            step = self._stopped_before
            return Rehearsed(job_id=job_id, outlook=Outlook.PASSES, stopped_before=step)
        if refused:
            return _unknown(job_id, f"its task {refused[0]}, and a rehearsal is offline")
        if self.pages.missing:
            return _unknown(job_id, f"it goes to {self.pages.missing[0]}, which was not captured")
        if self.pages.has_asked_past_us(error):
            return _unknown(job_id, "its task asks for more than its page, and that is offline")
        cut = " (its captured page is cut)" if captured.is_cut else ""
        reason = redact_text(describe(error)) + cut
        return Rehearsed(job_id=job_id, outlook=Outlook.FAILS, reason=reason)

    def _new_job(self, task: Task, row: Row, folder: Path) -> Job:
        seconds = min(task.timeout_seconds or MAX_JOB_SECONDS, MAX_JOB_SECONDS)
        return Job(
            id=row["id"],
            attempt=row["attempts"] + 1,
            max_attempts=row["attempts"] + 1,
            task=task.name,
            deadline=time.monotonic() + seconds,
            timeout_seconds=seconds,
            results_dir=folder,
            profile_id=row["profile"],
            account_id=row["account"],
            depth=row["depth"],
            _make_row=added_jobs.row,
            _patience=self.session.options.page_timeout_seconds,
            _on_irreversible=self._stop,
        )

    def _stop(self, step: str) -> None:
        self._stopped_before = redact_text(step)
        raise _Stopped(f"stopped before {step!r}")


def _unknown(job_id: int, reason: str) -> Rehearsed:
    return Rehearsed(job_id=job_id, outlook=Outlook.UNKNOWN, reason=redact_text(reason))


@contextmanager
def rehearse_offline(
    *, browser: str | None = None, headless: bool = True, scripts: bool = False
) -> Iterator[OfflineRehearsal]:
    """Have a browser that reaches nothing; nothing of it is left later."""
    with tempfile.TemporaryDirectory(prefix="nightshift-") as folder, offline_pages() as pages:
        options = BrowserOptions(
            tmp_dir=Path(folder) / "browser",
            executable=find_browser(browser),
            headless=headless,
            page_timeout_seconds=PAGE_SECONDS_WITH_SCRIPTS if scripts else PAGE_SECONDS,
            scripts=scripts,
        )
        session = BrowserSession(options)
        session.guards.on_context = pages.watch
        session.use_proxy(pages.dead_end)
        session.open()
        try:
            yield OfflineRehearsal(session, pages)
        finally:
            session.close()
