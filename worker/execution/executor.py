"""One claimed job from page to settlement: check, run the task, judge, keep evidence, settle.

Evidence is on disk before the job is settled. Whatever a task does, it ends here: this is one of
the borders at which every exception is caught, and recorded.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from worker.backoff import backoff_seconds
from worker.browser.session import BrowserSession
from worker.claiming.gate import Gate
from worker.errors import BadData, ClaimLost, Fail, LaunchFailed
from worker.execution.failure_report import Reporter
from worker.execution.profile_use import ProfileUse
from worker.execution.proxy_use import ProxyUse
from worker.execution.stop_request import StopRequest
from worker.execution.task_call import as_json, parse_payload, run_task
from worker.execution.verdict import Verdict, judge
from worker.models import Candidate, Cause, Claim, Ending, Explanation, Outcome, Owner, Status
from worker.queue.claims import Queue
from worker.queue.outcome_writer import OutcomeWriter
from worker.settings import RunSettings
from worker.system.board import Entry, Phase
from worker.tasks.job import Job
from worker.tasks.registry import Registry, Task

# Reading the memory of a process tree costs about a millisecond: not at every job.
MEMORY_CHECK_JOBS = 10

logger = logging.getLogger("nightshift.worker")


@dataclass(slots=True)
class Executor:
    """Does jobs, one at a time, with one browser."""

    settings: RunSettings
    run_id: int
    owner: Owner
    queue: Queue
    gate: Gate
    settler: OutcomeWriter
    registry: Registry
    session: BrowserSession
    rotation: ProxyUse
    entry: Entry
    stop: StopRequest
    _memory_checked_at: int = 0
    environment: ProfileUse = field(init=False)
    _reporter: Reporter = field(init=False)

    def __post_init__(self) -> None:
        self.session.on_launch = self._show_processes
        holder = f"worker {self.owner.slot} (incarnation {self.owner.incarnation})"
        self.environment = ProfileUse(self.queue.database, self.session, self.rotation, holder)
        self._reporter = Reporter(self.settings.errors_dir, self.run_id, self.owner, self.session)

    def make_ready(self) -> None:
        """Have a good browser and its proxy before a job is claimed; raises LaunchFailed."""
        if not self.session.is_alive:
            self._memory_checked_at = 0
            self.session.open()
        elif reason := self._why_recycle():
            logger.info("recycling the browser: %s", reason)
            self._memory_checked_at = 0
            self.session.recycle()
        if closure := self.rotation.look():
            self.gate.closures.close(closure)

    @property
    def is_look_due(self) -> bool:
        """Whether to look at browser and proxies again before another job is claimed."""
        return self.rotation.is_due or self._is_browser_worn

    @property
    def _is_browser_worn(self) -> bool:
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
        self.environment.enter(claim)
        try:
            result = self._attempt(claim)
        except BaseException as error:
            self._settle_failure(claim, error)
            if isinstance(error, LaunchFailed):
                raise
            return None
        else:
            # The news of a finish is written in a transaction of its own.
            following = None if self.queue.has_listener(claim) else next_candidate()
            return self._settle_success(claim, result, following)
        finally:
            self.entry.end_job()
            self.environment.leave()

    def _capped(self, claim: Claim) -> Claim:
        task = self.registry.find(claim.task)
        if task is None or task.max_attempts is None or not claim.has_default_cap:
            return claim
        return self.queue.limit_attempts(claim, task.max_attempts)

    def _attempt(self, claim: Claim) -> str:
        """Run the job's task and return its result as JSON text."""
        seconds = claim.timeout_seconds or self.settings.job_timeout_seconds
        self.entry.begin_job(claim.job_id, claim.fence, claim.attempt, claim.task, seconds)
        if claim.tries > claim.max_attempts:
            raise Fail(
                f"it has had its {claim.max_attempts} attempts; "
                f"to try again: launcher.py retry --id {claim.job_id}"
            )
        if claim.problem is not None:
            raise Fail(claim.problem)
        if claim.skipped is not None:
            return as_json({"skipped": claim.skipped})
        task = self.registry.get(claim.task)
        payload = parse_payload(claim.payload)
        shaped = task.fit(payload)
        seconds = claim.timeout_seconds or task.timeout_seconds or seconds
        self.entry.describe_job(f"{claim.task} {payload.get('url', '')}".rstrip(), seconds)
        if task.browser:
            self.rotation.serve(claim)
        job = self._job(claim, seconds)
        if task.browser:
            self.environment.open()
        return run_task(self.session, task, shaped, job, trace=claim.attempt > 1)

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
            self.gate.succeeded(claim)
            self.rotation.succeeded()
        except BadData as error:
            why = Explanation(f"its result cannot be stored: {error}")
            self._settle(claim, Ending(Outcome.ERROR, why))
        except ClaimLost as lost:
            logger.error("%s", lost)
        self.session.release(clean=True)
        return following

    def _judge(self, claim: Claim, error: BaseException, task: Task | None) -> Verdict:
        """Decide over a failed attempt: by what the pool knows first, then by what was raised."""
        if self.stop.is_abandoning:
            reason = "handed back: the run was stopped"
            return Verdict(Outcome.HANDED_BACK, reason, cause=Cause.POOL)
        if fault := self.rotation.fault(error, claim.site):
            return Verdict(Outcome.HANDED_BACK, fault, cause=Cause.PROXY)
        verdict = judge(error, task.retry_on if task else ())
        return verdict if claim.problem is None else replace(verdict, cause=claim.problem_cause)

    def _settle_failure(self, claim: Claim, error: BaseException) -> None:
        task = self.registry.find(claim.task)
        verdict = self._judge(claim, error, task)
        was_blocked = verdict.outcome is Outcome.BLOCKED
        why = Explanation(verdict.reason, cause=verdict.cause)
        delay = verdict.after_seconds
        if verdict.outcome is not Outcome.HANDED_BACK:
            self.entry.phase = Phase.CAPTURING
            why = self._reporter.report(claim, error, verdict, self.entry.step)
            if delay is None:
                base = (task and task.retry_delay_seconds) or self.settings.retry_delay_seconds
                delay = backoff_seconds(claim.attempt - claim.forgiven, base)
        self.entry.phase = Phase.SETTLING
        max_blocks = task.max_blocks if task else None
        if claim.canary is not None and verdict.blames_site:
            # It went out so that others need not: that costs it nothing.
            why = replace(why, reason=f"probe of {claim.canary}: {why.reason}")
            verdict, delay = replace(verdict, outcome=Outcome.HANDED_BACK), None
        ending = Ending(verdict.outcome, why, delay_seconds=delay, max_blocks=max_blocks)
        self._settle(claim, ending)
        if not isinstance(error, Fail):
            # Only who gives a job up on purpose knows how far it got.
            self.environment.doubt(self.entry.step)
        self.gate.failed(
            claim,
            verdict.reason,
            blames_site=verdict.blames_site,
            retry_after=verdict.after_seconds,
        )
        if verdict.blames_proxy:
            self.rotation.drop(verdict.reason)
        elif was_blocked:
            if self.rotation.turn(verdict.reason, verdict.after_seconds, claim.site):
                self.gate.look_again()
        else:
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
            "job %s %s, %s: %s%s",
            claim.job_id,
            "failed" if status is Status.ERROR else "goes back",
            _count(claim, ending.outcome),
            why.reason,
            f" → {self.settings.errors_dir.name}/{why.evidence}" if why.evidence else "",
        )

    def _job(self, claim: Claim, seconds: float) -> Job:
        def show(text: str) -> None:
            self.entry.step = text
            self.environment.note_step(text)

        return Job(
            id=claim.job_id,
            attempt=claim.attempt,
            max_attempts=claim.max_attempts,
            task=claim.task,
            deadline=time.monotonic() + seconds,
            timeout_seconds=seconds,
            results_dir=self.settings.results_dir,
            _on_step=show,
            _on_review=self.environment.want_review,
            profile_id=claim.profile_id,
            account_id=claim.account_id,
            lease_fence=claim.lease_fence,
        )

    def _show_processes(self) -> None:
        driver, browser = self.session.processes()
        self.entry.driver_pid = driver.pid if driver else 0
        self.entry.driver_started = driver.start_time if driver else 0
        self.entry.browser_pid = browser.pid if browser else 0
        self.entry.browser_started = browser.start_time if browser else 0


def _count(claim: Claim, outcome: Outcome) -> str:
    """Say how often it has come to this: blocks and crashes are counted by themselves."""
    match outcome:
        case Outcome.BLOCKED:
            return f"block {claim.blocks + 1}"
        case Outcome.CRASHED:
            return f"crash {claim.crashes + 1}"
    return f"attempt {claim.tries} of {claim.max_attempts}"
