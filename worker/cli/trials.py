"""`launcher.py try` and `reproduce`: run a task here, and find out why one failed."""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import click

from worker import log
from worker.browser import evidence
from worker.browser.browser_choice import BrowserChoice
from worker.browser.failed_attempt import Failure
from worker.browser.way_out import not_behind_proxies
from worker.browser_settings import CHROMIUM
from worker.cli import output
from worker.cli.connection import open_database
from worker.cli.endpoints import take_endpoints
from worker.cli.options import OF_BROWSER, OF_ELSEWHERE, errors_dir, run_settings
from worker.cli.output import tell, tell_result, tell_text
from worker.cli.privacy_check import close_own
from worker.cli.trial_proxy import find_proxy, proxy_flags
from worker.cli.wording import counted
from worker.errors import (
    LaunchFailed,
    NightshiftError,
    PayloadError,
    ProxyUnavailable,
    SettingsError,
    TaskNotFound,
    TaskSignal,
    UsageError,
)
from worker.evidence.files import new_attempt_folder
from worker.evidence.known_secrets import KnownSecrets
from worker.evidence.redaction import redact_text
from worker.execution.raised import Raised
from worker.execution.rehearsal import Rehearsal, rehearse
from worker.execution.task_call import parse_payload
from worker.execution.verdict import describe
from worker.exit_codes import ExitCode
from worker.models import Status
from worker.project import results_dir
from worker.proxies.proxy import Proxy
from worker.queue.claims import Queue
from worker.reasons import last_error_line
from worker.tasks import registry
from worker.tasks.registry import Task

REPRODUCED, TRIED = "reproduced", "tried"
# What a job has been through before its task may be run by hand without a question.
UNQUESTIONED = (Status.PENDING, Status.ERROR)
force_flag = click.option(
    "--force", is_flag=True, help="Do not ask, although the job is done or is being done."
)
PACKAGE = Path(__file__).resolve().parents[1]


@click.command("try")
@click.argument("name", metavar="TASK")
@click.option("--payload", help='Payload as JSON: \'{"url": "https://example.com"}\'')
@click.option("--job", "job_id", type=int, help="Use the payload of this job.")
@force_flag
@run_settings("tasks", *OF_BROWSER, *OF_ELSEWHERE)
@proxy_flags
def try_task(
    name: str,
    payload: str | None,
    job_id: int | None,
    force: bool,
    tasks: tuple[str, ...],
    proxy_name: str | None,
    direct: bool,
    **browser: Any,
) -> int:
    """Run one task now, for real but without the queue, and print its result.

    Its files go to results/tried/, never to those of a job.
    """
    if (payload is None) == (job_id is None):
        raise UsageError("give the payload with --payload JSON, or a job's with --job ID")
    job = None if job_id is None else _job(job_id)
    task, values = _fitted(tasks, name, payload or "" if job is None else job["payload"])
    if job is not None and not force:
        _ask_if_done(job)
    proxy = find_proxy(job, values, proxy_name, direct)
    with _rehearsal(TRIED, _choice(browser), proxy) as rehearsal:
        return _run(rehearsal, task, values, job)


@click.command("reproduce")
@click.argument("job_id", type=int, metavar="ID")
@force_flag
@run_settings("tasks", *OF_BROWSER, *OF_ELSEWHERE)
@proxy_flags
def reproduce(
    job_id: int,
    force: bool,
    tasks: tuple[str, ...],
    proxy_name: str | None,
    direct: bool,
    **browser: Any,
) -> int:
    """Run a failed job's task again here, for real, with a trace and new evidence beside the old.

    What the task does on its site is done once more. The queue is only read: the job itself stays
    as it is. Files go to results/reproduced/, never to those of the job.
    """
    job = _job(job_id)
    task, values = _fitted(tasks, job["task"], job["payload"])
    known = KnownSecrets.of_payload(job["payload"])
    reason = redact_text(last_error_line(job["last_error"]) or "no error", known)
    tell(f"job {job_id} ({task.name}) is {job['status']}: {reason}", err=True)
    if not force:
        _ask_if_done(job)
    tell("its task is run for real: what it does on its site is done once more", err=True)
    proxy = find_proxy(job, values, proxy_name, direct)
    with _rehearsal(REPRODUCED, _choice(browser), proxy) as rehearsal:
        close_own(errors_dir())
        trace = new_attempt_folder(errors_dir(), job_id, REPRODUCED) / "trace.zip"
        code = _run(rehearsal, task, values, job, trace=trace)
    if trace.exists():
        tell(f"trace: playwright show-trace {trace}", err=True)
    return code


def _run(
    rehearsal: Rehearsal,
    task: Task,
    payload: dict[str, Any],
    job: dict[str, Any] | None,
    *,
    trace: Path | None = None,
) -> int:
    job_id = job["id"] if job else 0
    run = partial(rehearsal.run, is_half_done=bool(job and job["irreversible_step"]))
    try:
        with output.tame_prints():
            queued = job["id"] if job else None
            result = run(task, payload, job_id=queued, trace=trace, on_step=_show_step)
    except KeyboardInterrupt:
        # Nobody wants to know where in its task it was.
        raise
    except BaseException as error:
        if isinstance(error, NightshiftError | TaskSignal):
            tell(redact_text(f"{type(error).__name__}: {describe(error)}"), err=True)
        else:
            tell_text(redact_text(_own_traceback(error)), err=True)
        if trace is not None:
            _keep_evidence(rehearsal, task, payload, job_id, error, trace.parent)
        rehearsal.forget()
        return exit_code_of(error)
    tell_result(result)
    if added := Counter(row["task"] for row in rehearsal.follow_ups):
        tasks = ", ".join(f"{count:,} {name}" for name, count in added.most_common())
        tell(f"a run would add {counted(added.total(), 'job')}: {tasks}", err=True)
    if (kept := rehearsal.results_dir / str(job_id)).is_dir():
        tell(f"files: {kept}", err=True)
    return ExitCode.OK


def exit_code_of(error: BaseException) -> ExitCode:
    """Tell a task that failed from a browser or a proxy that could not be had."""
    is_away = isinstance(error, LaunchFailed | ProxyUnavailable)
    return ExitCode.UNAVAILABLE if is_away else ExitCode.UNEXPECTED


def _fitted(sources: tuple[str, ...], name: str, text: str) -> tuple[Task, dict[str, Any]]:
    """Find a task and read a payload that fits it; raises UsageError."""
    try:
        task = registry.load(sources).get(name)
        values = parse_payload(text)
        task.fit(values)
    except (PayloadError, TaskNotFound) as error:
        raise UsageError(str(error)) from error
    return task, values


def _ask_if_done(job: dict[str, Any]) -> None:
    """Ask before a task is run whose job was done, or is being done: it may order a second time."""
    if job["status"] in UNQUESTIONED:
        return
    state = "is done" if job["status"] == Status.DONE else f"is {job['status']} now"
    warning = f"job {job['id']} {state}: its task would be run once more, for real"
    if not output.is_asking_possible():
        raise UsageError(f"{warning}; there is no terminal to ask on, so add --force to do it")
    if not output.ask(f"{warning}. Run it?"):
        tell("nothing was done", err=True)
        raise click.exceptions.Exit(0)


def _show_step(text: str) -> None:
    tell(redact_text(f"step: {text}"), err=True)


def _own_traceback(error: BaseException) -> str:
    """Write a traceback without the frames of Nightshift and Playwright around the task's own."""
    told = traceback.TracebackException.from_exception(error)
    each: traceback.TracebackException | None = told
    while each is not None:
        own = [frame for frame in each.stack if not _is_machinery(Path(frame.filename))]
        each.stack = traceback.StackSummary.from_list(own or each.stack)
        each = each.__cause__ or each.__context__
    return "".join(told.format()).rstrip()


def _is_machinery(path: Path) -> bool:
    is_ours = path.is_relative_to(PACKAGE) and not path.is_relative_to(PACKAGE / "tasks")
    return is_ours or "playwright" in path.parts


def _keep_evidence(
    rehearsal: Rehearsal,
    task: Task,
    payload: dict[str, Any],
    job_id: int,
    error: BaseException,
    folder: Path,
) -> None:
    raised = Raised.of(error, task.name)
    failure = Failure(
        job_id=job_id,
        attempt=0,
        fence=0,
        task=task.name,
        payload=payload,
        outcome=REPRODUCED,
        exception_type=raised.kind,
        exception_message=raised.message,
        traceback=raised.traceback,
        fingerprint=raised.fingerprint,
        worker_slot=-1,
        incarnation=0,
        run_id="by hand",
    )
    evidence.capture_into(folder, failure, rehearsal.session)
    tell(f"evidence: {folder}", err=True)


def _choice(browser: dict[str, Any]) -> BrowserChoice:
    take_endpoints(browser)
    del browser["endpoint_context"]
    return BrowserChoice(**browser)


@contextmanager
def _rehearsal(kind: str, browser: BrowserChoice, proxy: Proxy | None) -> Iterator[Rehearsal]:
    log.configure("task")
    if proxy is not None and browser.browser_type != CHROMIUM:
        raise SettingsError(not_behind_proxies(browser.browser_type))
    browser.check()
    results = results_dir()
    if proxy is not None:
        tell(f"using proxy {proxy.name} ({proxy.label})", err=True)
    with rehearse(results / kind, browser, proxy=proxy) as rehearsal:
        yield rehearsal


def _job(job_id: int) -> dict[str, Any]:
    with closing(open_database()) as db:
        job = Queue(db).get(job_id)
    if job is None:
        raise UsageError(f"there is no job {job_id} in {db.settings}")
    return job


COMMANDS = [try_task, reproduce]
