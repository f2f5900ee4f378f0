"""One claimed job from page to ending: check, run the task, judge, keep evidence; then let go.

Evidence is on disk before the ending is returned, and the caller settles before it lets go.
Whatever a task does, it ends here: this is one of the borders at which every exception is caught,
and recorded.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from worker import log
from worker.browser import last_words
from worker.browser.failures import Diagnosis, classify
from worker.browser.session import BrowserSession
from worker.claiming.gate import Gate
from worker.database.client import Database
from worker.errors import Fail, JobTimedOut, LaunchFailed, ProxyUnavailable, StepTaken
from worker.evidence import known_secrets
from worker.evidence.redaction import redact_url
from worker.execution.browser_loss import of_lost_browser
from worker.execution.failure_report import Reporter, redacted
from worker.execution.good_page_keeping import GoodPageKeeping
from worker.execution.job_steps import JobSteps
from worker.execution.job_wishes import JobWishes
from worker.execution.preparation import prepare
from worker.execution.profile_use import ProfileUse
from worker.execution.proxy_use import ProxyUse
from worker.execution.stop_request import StopRequest
from worker.execution.task_call import run_task
from worker.execution.verdict import judge
from worker.intake import added_jobs
from worker.models import Cause, Claim, Ending, Outcome, Owner, Rejection, StepKind
from worker.settings import RunSettings
from worker.system.board import Entry, Phase
from worker.tasks.job import Job, follow_ups_of, steps_of
from worker.tasks.registry import Registry, Task
from worker.tasks.wishes import NONE, Wishes
from worker.tracing.attempt_spans import error_type

# Answers from here on are errors of HTTP.
HTTP_ERRORS = 400

logger = logging.getLogger("nightshift.worker")


@dataclass(slots=True)
class Executor:
    """Does jobs, one at a time, with one browser."""

    settings: RunSettings
    run_id: int
    owner: Owner
    registry: Registry
    entry: Entry
    stop: StopRequest
    db: Database
    gate: Gate
    session: BrowserSession
    proxy_use: ProxyUse
    # Set when no browser could be started for a job: then no other should be claimed.
    launch_failure: LaunchFailed | None = None
    # What the contexts of its jobs' pages are made with.
    wishes: JobWishes = field(default_factory=JobWishes)
    # What the last attempt raised, by its name.
    error_type: str | None = None
    _profile_use: ProfileUse = field(init=False)
    _steps: JobSteps = field(init=False)
    _reporter: Reporter = field(init=False)
    _good_pages: GoodPageKeeping = field(init=False)
    _last_words: Path = field(init=False)
    _job: Job | None = None
    _was_given_up: bool = False
    _is_withdrawn: bool = False

    def __post_init__(self) -> None:
        self._profile_use = ProfileUse(self.db, self.session, self.proxy_use, str(self.owner))
        self._steps = JobSteps(self.db, self.entry, self._profile_use, self.stop)
        database = self.settings.database.key
        self._good_pages = GoodPageKeeping(self.settings, self.session, self.run_id)
        self._reporter = Reporter(
            self.settings.errors_dir, database, self.run_id, self.owner, self.session,
            self._good_pages.put_into,
        )  # fmt: skip
        self._last_words = last_words.path_of(self.settings.state_dir, database, self.owner.slot)

    def execute(self, claim: Claim) -> Ending:
        """Do one job and say how that ended; its evidence is kept, its page and profile still open.

        Never raises for what a task, its page or its browser does.
        """
        # Until the job is let go, its secrets are masked in all that this process writes.
        known_secrets.begin(claim.payload)
        self.error_type = None
        log.at_work_on(claim.job_id)
        task = self.registry.find(claim.task)
        self.proxy_use.begin()
        self._profile_use.enter(claim)
        self._steps.enter(claim, guesses=task is None or task.guess_half_done)
        try:
            result = self._attempt(claim, task)
            if refusal := self.proxy_use.refusal():
                # What the task has read was the proxy's answer, not the site's.
                raise ProxyUnavailable(refusal)
        except BaseException as error:
            return redacted(self._failure(claim, task, error))
        return Ending(
            Outcome.DONE,
            result=result,
            last_step=self.entry.step or None,
            irreversible_step=self._steps.irreversible_at(None),
            proxy=self.proxy_use.name,
            follow_ups=follow_ups_of(self._job),
        )

    def explain(self, rejection: Rejection) -> Ending:
        """Keep the evidence of a job that is ended before its task began."""
        claim = rejection.claim
        known_secrets.begin(claim.payload)
        self.error_type = None
        log.at_work_on(claim.job_id)
        ending = redacted(rejection.ending)
        self.proxy_use.begin()
        self._profile_use.enter(claim)
        self.entry.begin_job(
            claim.job_id, claim.fence, claim.attempt, claim.task, self._seconds(claim, None)
        )
        if ending.outcome in (Outcome.DONE, Outcome.HANDED_BACK):
            return ending
        self.entry.phase = Phase.CAPTURING
        return redacted(self._reporter.report(claim, ending, self.entry))

    def end_if_withdrawn(self) -> None:
        """End the task of a job that was taken from us, as one that was cancelled; in a handler.

        One that is at an irreversible step goes on: what it does must not be broken off halfway.
        """
        entry = self.entry
        is_at_task = entry.phase == Phase.WORKING and entry.step_kind is not StepKind.IRREVERSIBLE
        if entry.is_withdrawn and is_at_task:
            self._is_withdrawn = True
            self.session.kill()

    def keep_evidence(self, claim: Claim, ending: Ending) -> Ending:
        """Keep the evidence of a job whose result could not be stored."""
        return self._reporter.report(claim, ending, self.entry)

    def let_go(self, claim: Claim, ending: Ending, *, is_good: bool = False) -> None:
        """Take back page, proxy and profile after a job is settled, and tell who has to know.

        `is_good` says that the job was settled as done: its page may be kept as a good one.
        """
        is_done = ending.outcome is Outcome.DONE
        if not is_done:
            self._steps.doubt(was_given_up=self._was_given_up)
        self.gate.tell(claim, ending)
        if is_good:
            self._good_pages.keep(claim)
        if is_done:
            self.proxy_use.succeeded()
            self.session.release(clean=True)
        elif ending.cause is Cause.PROXY:
            self.proxy_use.drop(ending.reason)
        elif ending.outcome is Outcome.BLOCKED:
            if self.proxy_use.turn(ending.reason, ending.retry_after_seconds, claim.site):
                self.gate.look_again()
        else:
            self.session.release(clean=False)
        self._profile_use.leave()
        known_secrets.end()
        log.at_work_on(None)

    def _seconds(self, claim: Claim, task: Task | None) -> float:
        own = task.timeout_seconds if task is not None else None
        return claim.timeout_seconds or own or self.settings.job_timeout_seconds

    def _attempt(self, claim: Claim, task: Task | None) -> str:
        """Run the job's task and return its result as JSON text."""
        self._was_given_up, self._is_withdrawn, self._job = False, False, None
        seconds = self._seconds(claim, task)
        self.entry.begin_job(claim.job_id, claim.fence, claim.attempt, claim.task, seconds)
        ready = prepare(self.registry, claim)
        task = ready.task
        label = f"{claim.task} {redact_url(str(ready.payload.get('url', '')))}"
        self.entry.describe_job(label.rstrip(), seconds)
        wishes = self._open(claim, task, ready.payload, seconds) if task.browser else NONE
        job = self._job = self._new_job(claim, seconds)
        traced = self._is_traced(claim)
        return run_task(
            self.session, task, ready.shaped, job,
            trace=traced, wishes=wishes, on_timeout=self._keep_last_words,
        )  # fmt: skip

    def _open(self, claim: Claim, task: Task, payload: dict[str, Any], seconds: float) -> Wishes:
        """Have the job's way out and its profile; return what is wished of its context."""
        self.proxy_use.serve(claim)
        self.entry.show_proxy(self.proxy_use.name)
        has_profile = claim.lease_fence is not None
        wishes = self.wishes.of(task, payload, profile=claim.profile_id if has_profile else None)
        if has_profile:
            # A vendor may download a browser first: that has a limit of its own.
            self._profile_use.open(lambda more: self.entry.allow(more + seconds))
            self.entry.allow(seconds)
        return wishes

    def _keep_last_words(self) -> None:
        """Write down what the page said last: the watchdog calls this when time is over."""
        job, entry = self._job, self.entry
        steps = steps_of(job) if job is not None else ()
        last_words.keep(
            self._last_words, self.session, job_id=entry.job_id, fence=entry.fence, steps=steps
        )

    def _is_traced(self, claim: Claim) -> bool:
        wanted = self.settings.trace
        return wanted == "always" or (wanted == "retries" and claim.attempt > 1)

    def _failure(self, claim: Claim, task: Task | None, error: BaseException) -> Ending:
        self.error_type = error_type(error)
        self._was_given_up = isinstance(error, Fail | StepTaken)
        if isinstance(error, LaunchFailed) and not self._is_withdrawn:
            self.launch_failure = error
        ending = self._judge(claim, task, error, self._diagnose(error))
        step, proxy = self._steps.irreversible_at(error), self.proxy_use.name
        delay, blocks = ending.delay_seconds, task.max_blocks if task is not None else None
        is_back = ending.outcome is Outcome.HANDED_BACK and step is None
        if delay is None and not is_back:
            base = task.retry_delay_seconds if task is not None else None
            delay = self.gate.queue.backoff_seconds(claim, base)
        ending = replace(
            ending, irreversible_step=step, proxy=proxy, delay_seconds=delay, max_blocks=blocks
        )
        if is_back:
            return ending
        self.entry.phase = Phase.CAPTURING
        steps = steps_of(self._job) if self._job is not None else ()
        return self._reporter.report(claim, ending, self.entry, error, steps)

    def _diagnose(self, error: BaseException) -> Diagnosis:
        if not isinstance(error, JobTimedOut):
            self.session.hear_events()
        return classify(error, page_crashed=self.session.recorder.is_page_crashed)

    def _judge(
        self, claim: Claim, task: Task | None, error: BaseException, diagnosis: Diagnosis
    ) -> Ending:
        """Decide over a failed attempt: by what the pool knows first, then by what was raised."""
        if self.stop.is_abandoning:
            return Ending(Outcome.HANDED_BACK, "handed back: the run was stopped", Cause.POOL)
        if self._is_withdrawn:
            logger.info("job %s was cancelled or taken away: its task is stopped", claim.job_id)
            return Ending(Outcome.HANDED_BACK, "stopped: its claim was taken away", Cause.POOL)
        if fault := self.proxy_use.fault(diagnosis, claim.site):
            return Ending(Outcome.HANDED_BACK, fault, Cause.PROXY)
        if lost := of_lost_browser(self.db, self.session, claim, error):
            return lost
        answer = self.session.recorder.main_response
        return judge(
            error,
            diagnosis,
            retry_on=task.retry_on if task else (),
            has_document=answer is not None and answer.status < HTTP_ERRORS,
        )

    def _new_job(self, claim: Claim, seconds: float) -> Job:
        return Job(
            id=claim.job_id,
            attempt=claim.attempt,
            max_attempts=claim.max_attempts,
            task=claim.task,
            deadline=time.monotonic() + seconds,
            timeout_seconds=seconds,
            results_dir=self.settings.results_dir,
            _on_step=self._steps.take,
            _on_irreversible=self._steps.take_irreversible,
            _on_undone=self._steps.take_undone,
            _on_review=self._profile_use.want_review,
            profile_id=claim.profile_id,
            account_id=claim.account_id,
            lease_fence=claim.lease_fence,
            depth=claim.depth,
            _make_row=added_jobs.row,
        )
