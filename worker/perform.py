"""One claimed job from page to settlement: check, run the task, judge, keep evidence, settle.

Evidence is on disk before the job is settled. Whatever a task does, it ends here: this is one of
the borders at which every exception is caught, and recorded.
"""

from __future__ import annotations

import json
import logging
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from worker.backoff import backoff_seconds
from worker.board import Entry, Phase
from worker.browser import blocked, evidence
from worker.browser.session import BrowserSession
from worker.database import BadData
from worker.errors import (
    Blocked,
    ClaimLost,
    Fail,
    JobTimedOut,
    LaunchFailed,
    PayloadError,
)
from worker.fingerprint import fingerprint, frames_of
from worker.models import JSON, Candidate, Claim, Ending, Explanation, Outcome, Owner, Status
from worker.queue import Queue
from worker.settings import RunSettings
from worker.settler import Settler
from worker.stop_request import StopRequest
from worker.tasks.job import Job
from worker.tasks.registry import Registry, Task
from worker.verdict import Verdict, judge

MAX_RESULT_BYTES = 1_000_000
# Reading the memory of a process tree costs about a millisecond: not at every job.
MEMORY_CHECK_JOBS = 10

logger = logging.getLogger("nightshift.worker")


@dataclass(slots=True)
class Performer:
    """Does jobs, one at a time, with one browser."""

    settings: RunSettings
    run_id: int
    owner: Owner
    queue: Queue
    settler: Settler
    registry: Registry
    session: BrowserSession
    entry: Entry
    stop: StopRequest
    _memory_checked_at: int = 0

    def make_ready(self) -> None:
        """Have a good browser at hand before a job is claimed; raises LaunchFailed."""
        if not self.session.is_alive:
            self._memory_checked_at = 0
            self.session.open()
        elif reason := self._why_recycle():
            logger.info("recycling the browser: %s", reason)
            self._memory_checked_at = 0
            self.session.recycle()
        else:
            return
        self._show_processes()

    @property
    def is_browser_worn(self) -> bool:
        """Whether it is time to look at the browser again before another job is claimed."""
        jobs = self.session.jobs_since_launch
        is_unchecked = jobs - self._memory_checked_at >= MEMORY_CHECK_JOBS
        return is_unchecked or jobs >= self.settings.recycle_jobs

    def _why_recycle(self) -> str | None:
        jobs = self.session.jobs_since_launch
        if jobs >= self.settings.recycle_jobs:
            return f"{jobs} jobs since its launch"
        if jobs - self._memory_checked_at >= MEMORY_CHECK_JOBS:
            self._memory_checked_at = jobs
            used = self.session.memory_mb()
            if used > self.settings.recycle_mb:
                return f"{used:.0f} MB of memory"
        return None

    def perform(
        self, claim: Claim, next_candidate: Callable[[], Candidate | None] = lambda: None
    ) -> Claim | None:
        """Do one job and settle it; return the claim on the next one, if one came with it.

        Raises LaunchFailed, after handing the job back, when there is no browser. A claim that was
        lost meanwhile is dropped: its outcome is another's to write.
        """
        claim = self._capped(claim)
        try:
            result = self._attempt(claim)
        except BaseException as error:
            self._settle_failure(claim, error)
            if isinstance(error, LaunchFailed):
                raise
            return None
        else:
            return self._settle_success(claim, result, next_candidate())
        finally:
            self.entry.end_job()

    def _capped(self, claim: Claim) -> Claim:
        task = self.registry.find(claim.task)
        if task is None or task.max_attempts is None or not claim.has_default_cap:
            return claim
        return self.queue.limit_attempts(claim, task.max_attempts)

    def _attempt(self, claim: Claim) -> str:
        """Run the job's task and return its result as JSON text."""
        seconds = claim.timeout_seconds or self.settings.job_timeout_seconds
        self.entry.begin_job(claim.job_id, claim.fence, claim.attempt, claim.task, seconds)
        if claim.attempt > claim.max_attempts:
            raise Fail(
                f"it has had its {claim.max_attempts} attempts; "
                f"to try again, set attempts = 0 and status = 'pending'"
            )
        task = self.registry.get(claim.task)
        payload = _payload(claim)
        seconds = claim.timeout_seconds or task.timeout_seconds or seconds
        self.entry.describe_job(f"{claim.task} {payload.get('url', '')}".rstrip(), seconds)
        return _as_json(self._run(task, payload, self._job(claim, seconds), seconds))

    def _run(self, task: Task, payload: dict[str, Any], job: Job, seconds: float) -> Any:
        page = None
        if task.browser:
            page = self.session.page_for_job(
                isolated=task.isolation == "context", trace=job.attempt > 1
            )
            self._show_processes()
        problem: BaseException | None = None
        result = None
        with self.session.limit(seconds) as limit:
            try:
                result = task.function(page, payload, job)  # type: ignore[arg-type]
            except BaseException as error:
                problem = error
            # A refusal looks like an ordinary failure, and often like success.
            if not isinstance(problem, Blocked) and (refusal := self._refusal()) is not None:
                refusal.__cause__ = problem
                problem = refusal
        if limit.fired:
            # The killed browser makes the blocked call raise, or return something empty.
            raise JobTimedOut(seconds, limit.stack) from problem
        if problem is not None:
            raise problem
        return result

    def _refusal(self) -> Blocked | None:
        """Tell whether the site has refused us as a robot."""
        if self.session.page is None:
            return None
        try:
            return blocked.detect(self.session.recorder, self.session.page)
        except Exception as problem:
            logger.debug("cannot tell whether the page is a challenge: %s", problem)
            return None

    def _settle_success(
        self, claim: Claim, result: str, candidate: Candidate | None
    ) -> Claim | None:
        self.entry.phase = Phase.SETTLING
        following = None
        try:
            following = self.settler.finish(claim, result, self.owner, candidate)
            # In this order: a finished job that is still shown here is counted by the heart.
            self.entry.end_job()
            self.entry.done += 1
        except BadData as error:
            why = Explanation(f"its result cannot be stored: {error}")
            self._settle(claim, Ending(Outcome.ERROR, why))
        except ClaimLost as lost:
            logger.error("%s", lost)
        self.session.release(clean=True)
        return following

    def _settle_failure(self, claim: Claim, error: BaseException) -> None:
        verdict = judge(error)
        if self.stop.is_abandoning:
            verdict = Verdict(Outcome.HANDED_BACK, "handed back: the run was stopped")
        why = Explanation(verdict.reason)
        delay = None
        if verdict.outcome is not Outcome.HANDED_BACK:
            self.entry.phase = Phase.CAPTURING
            why = self._explain(claim, error, verdict)
            delay = verdict.after_seconds
            if delay is None:
                delay = backoff_seconds(claim.attempt, self.settings.retry_delay_seconds)
        self.entry.phase = Phase.SETTLING
        self._settle(claim, Ending(verdict.outcome, why, delay_seconds=delay))
        self.session.release(clean=False)

    def _settle(self, claim: Claim, ending: Ending) -> None:
        """Write how a job failed, count it, and say so."""
        try:
            status = self.settler.settle(claim, ending)
        except ClaimLost as lost:
            logger.error("%s", lost)
            return
        if status is Status.ERROR:
            self.entry.failed += 1
        elif ending.outcome is Outcome.HANDED_BACK:
            self.entry.handed_back += 1
        else:
            self.entry.retried += 1
        why = ending.why or Explanation("")
        logger.log(
            logging.WARNING if status is Status.ERROR else logging.INFO,
            "job %s %s, attempt %s of %s: %s%s",
            claim.job_id,
            "failed" if status is Status.ERROR else "goes back",
            claim.attempt,
            claim.max_attempts,
            why.reason,
            f" → {self.settings.errors_dir.name}/{why.evidence}" if why.evidence else "",
        )

    def _explain(self, claim: Claim, error: BaseException, verdict: Verdict) -> Explanation:
        text = "".join(traceback.format_exception(error))
        kind = type(error).__name__
        key, _ = fingerprint(kind, str(error), claim.task, frames_of(error))
        failure = evidence.Failure(
            job_id=claim.job_id,
            attempt=claim.attempt,
            task=claim.task,
            payload=_lenient(claim.payload),
            exception_type=kind,
            exception_message=str(error),
            traceback=text,
            fingerprint=key,
            outcome=verdict.outcome.value,
            worker_slot=self.owner.slot,
            incarnation=self.owner.incarnation,
            run_id=str(self.run_id),
            fence=claim.fence,
            last_step=self.entry.step or None,
            hang_stack=error.stack if isinstance(error, JobTimedOut) else None,
        )
        steps = evidence.capture(self.settings.errors_dir, failure, self.session)
        missing = evidence.missing(steps)
        lost = missing.get("folder") or missing.get("error")
        folder = None if lost else f"{claim.job_id}/{claim.attempt}"
        reason = verdict.reason
        if lost:
            reason += f" (no evidence: {lost})"
        return Explanation(
            reason=reason,
            last_error=text,
            fingerprint=key,
            evidence=folder,
            last_step=self.entry.step or None,
        )

    def _job(self, claim: Claim, seconds: float) -> Job:
        def show(text: str) -> None:
            self.entry.step = text

        return Job(
            id=claim.job_id,
            attempt=claim.attempt,
            max_attempts=claim.max_attempts,
            task=claim.task,
            deadline=time.monotonic() + seconds,
            _on_step=show,
        )

    def _show_processes(self) -> None:
        driver, browser = self.session.processes()
        self.entry.driver_pid = driver.pid if driver else 0
        self.entry.driver_started = driver.start_time if driver else 0
        self.entry.browser_pid = browser.pid if browser else 0
        self.entry.browser_started = browser.start_time if browser else 0


def _payload(claim: Claim) -> dict[str, Any]:
    payload = _parsed(claim.payload)
    if not isinstance(payload, dict):
        raise PayloadError(
            f"the payload is {_kind(payload)}, not an object; "
            f'write one such as {{"url": "https://example.com"}}'
        )
    return payload


def _parsed(text: str) -> JSON:
    try:
        parsed: JSON = json.loads(text)
        return parsed
    except ValueError as error:
        raise PayloadError(f"the payload is not JSON: {error}") from error


def _lenient(text: str) -> JSON:
    try:
        return _parsed(text)
    except PayloadError:
        return text


def _kind(value: JSON) -> str:
    names = {list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def _as_json(result: Any) -> str:
    try:
        text = json.dumps(result, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise Fail(
            f"the task returned what is not JSON ({error}); return dicts, lists, texts and numbers"
        ) from error
    if len(text) > MAX_RESULT_BYTES:
        raise Fail(
            f"the task's result is {len(text) / 1e6:.1f} MB, the limit is "
            f"{MAX_RESULT_BYTES / 1e6:g} MB; write it to a file and return its path"
        )
    return text
