"""Running one task with one page: the payload checked, the time limited, the result JSON.

It knows nothing of queues and claims. Workers run their jobs through it, and so do rehearsals and
tests.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import sys
import time
from collections.abc import Callable
from typing import Any

from worker import json_text
from worker.browser import block_detection
from worker.browser.page_rules import PageRules
from worker.browser.session import BrowserSession
from worker.errors import Blocked, Fail, JobTimedOut, LaunchFailed, PayloadError
from worker.evidence import known_secrets
from worker.evidence.masked_output import masked_output
from worker.models import JSON
from worker.system import standard_streams
from worker.tasks.job import MAX_RESULT_BYTES, Job, result_of
from worker.tasks.registry import Task
from worker.tasks.wishes import NONE, Wishes

# Made once: making one takes as long as writing a small result.
_ENCODER = json.JSONEncoder(allow_nan=False)

logger = logging.getLogger("nightshift.worker")


def run_task(
    session: BrowserSession,
    task: Task,
    payload: Any,
    job: Job,
    *,
    trace: bool = False,
    wishes: Wishes = NONE,
    on_timeout: Callable[[], None] = lambda: None,
) -> str:
    """Run a task until its deadline and return its result as JSON; raises what ended it otherwise.

    A task past its deadline has its browser killed and raises JobTimedOut; another thread calls
    `on_timeout` then. A page that refused us as a robot raises Blocked, whatever the task did.
    """
    page, result = _page_for(session, task, job, wishes, trace=trace), None
    problem: BaseException | None = None
    worker_pid = os.getpid()
    seconds = max(0.1, job.deadline - time.monotonic())
    standard_streams.make_blocking()
    with session.limit(seconds).also(on_timeout) as limit:
        try:
            with masked_output():
                result = task.function(page, payload, job)
        except BaseException as error:
            problem = error
        if os.getpid() != worker_pid:
            # The task forked and its child came back here: it must not go on as a second worker.
            os._exit(1)
        _mend_output()
        # A refusal looks like an ordinary failure, and often like success.
        problem = _because_of(_refusal(session, problem), problem)
    # The killed browser makes the blocked call raise, or return something empty.
    if limit.fired:
        problem = _because_of(JobTimedOut(job.timeout_seconds or seconds, limit.stack), problem)
    problem = _because_of(session.guards.explain(problem, session.recorder), problem)
    if problem is not None:
        raise problem
    # A secret that was read by its name is the pool's, even in what the task returns.
    return known_secrets.mask_result(as_json(result_of(job, result)))


def _page_for(session: BrowserSession, task: Task, job: Job, wishes: Wishes, *, trace: bool) -> Any:
    if not task.browser:
        return None
    rules = PageRules(task.schemes, task.downloads)
    # One that is kept for its task is kept for its account: no other account's job gets it.
    owner = f"{task.name} of {job.account_id}" if job.account_id else task.name
    try:
        return session.page_for_job(
            isolation=task.isolation, task=owner, trace=trace, rules=rules, wishes=wishes
        )
    except OSError as error:
        if error.errno != errno.EBADF:
            raise
        # Whoever closed that, it was not this job: its task has not begun.
        raise LaunchFailed(
            f"the browser cannot be spoken to ({error}); has a task before closed files that were "
            f"not its own?",
            is_passing=True,
        ) from error


def _because_of(
    better: BaseException | None, problem: BaseException | None
) -> BaseException | None:
    """Take the better word for what went wrong, if there is one."""
    if better is None or better is problem:
        return problem
    better.__cause__ = problem
    return better


def parse_payload(text: str) -> dict[str, Any]:
    """Read a payload; raises PayloadError when it is not a JSON object."""
    payload = parse_json(text)
    if not isinstance(payload, dict):
        raise PayloadError(
            f"the payload is {_kind(payload)}, not an object; "
            f'write one such as {{"url": "https://example.com"}}'
        )
    return payload


def parse_json(text: str) -> JSON:
    """Read JSON; raises PayloadError when it is not JSON, or holds what Python cannot."""
    try:
        return json_text.parse(text)
    except json_text.OddJson as error:
        raise PayloadError(f"the payload cannot be read: {error}") from error
    except ValueError as error:
        raise PayloadError(f"the payload is not JSON: {error}") from error


def _mend_output() -> None:
    """Open what a task has closed: the next one may want to print."""
    for name, fd in (("stdout", 1), ("stderr", 2)):
        if getattr(sys, name).closed:
            setattr(sys, name, open(fd, "w", encoding="utf-8", closefd=False))  # noqa: SIM115


def _refusal(session: BrowserSession, problem: BaseException | None) -> Blocked | None:
    """Tell whether the site has refused us as a robot, unless the task has said so itself."""
    if session.page is None or isinstance(problem, Blocked):
        return None
    try:
        return block_detection.detect(session.recorder, session.page)
    except Exception as problem:
        logger.debug("cannot tell whether the page is a challenge: %s", problem)
        return None


def _kind(value: JSON) -> str:
    names = {list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def as_json(result: Any) -> str:
    """Write a result as JSON; raises Fail when it cannot be, or is too large.

    A half character, which a page may hold and no database takes, is replaced.
    """
    try:
        text = _ENCODER.encode(result)
        if "\\ud" in text:
            text = json.dumps(json_text.whole_characters(result))
    except (TypeError, ValueError, RecursionError) as error:
        is_odd = isinstance(error, ValueError)
        why = (json_text.problem_in(result, "result") if is_odd else None) or error
        raise Fail(
            f"the task returned what is not JSON ({why}); return dicts, lists, texts and numbers"
        ) from error
    if json_text.has_long_number(text) and (problem := json_text.problem_in(result, "result")):
        raise Fail(f"the task returned what no database stores: {problem}")
    if len(text) > MAX_RESULT_BYTES:
        raise Fail(
            f"the task's result is {len(text) / 1e6:.1f} MB, the limit is "
            f"{MAX_RESULT_BYTES / 1e6:g} MB; write it to a file and return its path"
        )
    return text
