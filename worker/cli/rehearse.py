"""`launcher.py try`, `reproduce` and `init`: write a task, and find out why one failed."""

from __future__ import annotations

import json
import keyword
import os
import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import click

from worker import log
from worker.browser import evidence
from worker.cli.connection import open_database
from worker.cli.options import errors_dir, run_settings
from worker.cli.rehearsal_proxy import find_proxy, proxy_flags
from worker.errors import NightshiftError, TaskSignal, UsageError
from worker.evidence.files import new_attempt_folder
from worker.evidence.fingerprint import fingerprint, frames_of
from worker.execution.rehearsal import Rehearsal, rehearse
from worker.execution.task_call import parse_payload
from worker.execution.verdict import describe
from worker.exit_codes import ExitCode
from worker.history.results import last_error_line
from worker.proxies.proxy import Proxy
from worker.queue.claims import Queue
from worker.settings import PROJECT_ROOT
from worker.tasks import registry
from worker.tasks.registry import Task

REPRODUCED = "reproduced"
# A task file of such a name would hide the module from everything else, or be hidden by it.
TAKEN_NAMES = sys.stdlib_module_names | {"worker", "launcher", "playwright", "pytest"}


@click.command("try")
@click.argument("name", metavar="TASK")
@click.option("--payload", help='Payload as JSON: \'{"url": "https://example.com"}\'')
@click.option("--job", "job_id", type=int, help="Use the payload of this job.")
@run_settings("tasks", "browser", "headless", "deny_private")
@proxy_flags
def try_task(
    name: str,
    payload: str | None,
    job_id: int | None,
    tasks: tuple[str, ...],
    browser: str | None,
    headless: bool,
    deny_private: bool,
    proxy_name: str | None,
    direct: bool,
) -> int:
    """Run one task now, without the queue, and print its result."""
    task = registry.load(tasks).get(name)
    if (payload is None) == (job_id is None):
        raise UsageError("give the payload with --payload JSON, or a job's with --job ID")
    job = None if job_id is None else _job(job_id)
    values = parse_payload(payload or "" if job is None else job["payload"])
    task.fit(values)
    proxy = find_proxy(job, proxy_name, direct)
    with _rehearsal(browser, headless, deny_private, proxy) as rehearsal:
        return _run(rehearsal, task, values, job_id or 0)


@click.command("reproduce")
@click.argument("job_id", type=int, metavar="ID")
@run_settings("tasks", "browser", "headless", "deny_private")
@proxy_flags
def reproduce(
    job_id: int,
    tasks: tuple[str, ...],
    browser: str | None,
    headless: bool,
    deny_private: bool,
    proxy_name: str | None,
    direct: bool,
) -> int:
    """Run a failed job again here, with a trace, and put new evidence beside the old.

    The queue is only read: the job itself stays as it is.
    """
    job = _job(job_id)
    task = registry.load(tasks).get(job["task"])
    values = parse_payload(job["payload"])
    task.fit(values)
    reason = last_error_line(job["last_error"]) or "no error"
    click.echo(f"job {job_id} ({task.name}) is {job['status']}: {reason}", err=True)
    proxy = find_proxy(job, proxy_name, direct)
    with _rehearsal(browser, headless, deny_private, proxy) as rehearsal:
        trace = new_attempt_folder(errors_dir(), job_id, REPRODUCED) / "trace.zip"
        code = _run(rehearsal, task, values, job_id, trace=trace)
    click.echo(f"trace: playwright show-trace {trace}", err=True)
    return code


@click.command("init")
@click.argument("name")
def init(name: str) -> None:
    """Write a commented task file NAME.py, and a test for it."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise UsageError(f"{name} cannot name a task file; use a-z, 0-9 and _, as in my_shop")
    if name in TAKEN_NAMES:
        raise UsageError(f"{name} is the name of another Python module; choose one such as my_shop")
    task_path, test_path = Path(f"{name}.py"), Path(f"test_{name}.py")
    for path in (task_path, test_path):
        if path.exists():
            raise UsageError(f"{path} exists already; choose another name")
    for path, template in ((task_path, "task.py.txt"), (test_path, "test_task.py.txt")):
        text = (Path(__file__).parent / "templates" / template).read_text(encoding="utf-8")
        path.write_text(
            text.replace("NAME", name).replace("ROOT", repr(str(PROJECT_ROOT))), encoding="utf-8"
        )
    root = "" if Path.cwd() == PROJECT_ROOT else f"{PROJECT_ROOT}/"
    click.echo(
        f"wrote {task_path} and {test_path}; next:\n"
        f"  python {root}launcher.py try {name} --tasks {task_path} "
        f'--payload \'{{"url": "https://example.com"}}\'\n'
        f"  {root}.venv/bin/pytest {test_path}"
    )


def _run(
    rehearsal: Rehearsal,
    task: Task,
    payload: dict[str, Any],
    job_id: int,
    *,
    trace: Path | None = None,
) -> int:
    try:
        result = rehearsal.run(task, payload, job_id=job_id, trace=trace, on_step=_show_step)
    except BaseException as error:
        if isinstance(error, NightshiftError | TaskSignal):
            click.echo(f"{type(error).__name__}: {describe(error)}", err=True)
        else:
            click.echo(_own_traceback(error), err=True)
        if trace is not None:
            _keep_evidence(rehearsal, task, payload, job_id, error, trace.parent)
        rehearsal.forget()
        return ExitCode.UNEXPECTED
    click.echo(json.dumps(result, ensure_ascii=False, indent=2))
    if (kept := rehearsal.results_dir / str(job_id)).is_dir():
        click.echo(f"files: {kept}", err=True)
    return ExitCode.OK


def _show_step(text: str) -> None:
    click.echo(f"step: {text}", err=True)


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
    package = PROJECT_ROOT / "worker"
    is_ours = path.is_relative_to(package) and not path.is_relative_to(package / "tasks")
    return is_ours or "playwright" in path.parts


def _keep_evidence(
    rehearsal: Rehearsal,
    task: Task,
    payload: dict[str, Any],
    job_id: int,
    error: BaseException,
    folder: Path,
) -> None:
    kind = type(error).__name__
    key, _ = fingerprint(kind, str(error), task.name, frames_of(error))
    failure = evidence.Failure(
        job_id=job_id,
        attempt=0,
        fence=0,
        task=task.name,
        payload=payload,
        outcome=REPRODUCED,
        exception_type=kind,
        exception_message=str(error),
        traceback="".join(traceback.format_exception(error)),
        fingerprint=key,
        worker_slot=-1,
        incarnation=0,
        run_id="by hand",
    )
    evidence.capture_into(folder, failure, rehearsal.session)
    click.echo(f"evidence: {folder}", err=True)


@contextmanager
def _rehearsal(
    browser: str | None, headless: bool, deny_private: bool, proxy: Proxy | None
) -> Iterator[Rehearsal]:
    log.configure("task")
    results = Path(os.environ.get("NIGHTSHIFT_RESULTS_DIR") or PROJECT_ROOT / "results")
    with rehearse(
        results, browser=browser, headless=headless, deny_private=deny_private
    ) as rehearsal:
        if proxy is not None:
            click.echo(f"using proxy {proxy.name} ({proxy.label})", err=True)
            rehearsal.session.use_proxy(proxy)
        yield rehearsal


def _job(job_id: int) -> dict[str, Any]:
    with closing(open_database()) as db:
        job = Queue(db).get(job_id)
    if job is None:
        raise UsageError(f"there is no job {job_id} in {db.settings}")
    if job["profile"] is not None:
        click.echo(
            f"job {job_id} belongs to profile {job['profile']}; here it runs in an ordinary "
            f"browser, without the cookies and log-ins of the profile",
            err=True,
        )
    return job


COMMANDS = [try_task, reproduce, init]
