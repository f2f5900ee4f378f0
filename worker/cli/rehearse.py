"""`launcher.py rehearse`: would the task as it is now do the jobs that failed? Asks no site."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from worker import log
from worker.cli import output, requeue
from worker.cli.connection import open_database
from worker.cli.options import json_flag, run_settings
from worker.cli.output import tell, tell_all, tell_json
from worker.cli.wording import counted
from worker.database.client import Database, Row
from worker.errors import TaskNotFound, UsageError
from worker.evidence import evidence_place
from worker.execution.offline_rehearsal import Outlook, Rehearsed, rehearse_offline
from worker.history import archive, dead_letters
from worker.installation import command_line
from worker.queue.claims import Queue
from worker.tasks import registry
from worker.tasks.registry import Registry, Task

SHORT = 8
# Of a result on a line; --json has all of it.
SHOWN = 160
WORDS = {Outlook.PASSES: "passes", Outlook.FAILS: "fails", Outlook.UNKNOWN: "cannot be rehearsed"}


@dataclass(frozen=True, slots=True)
class _Case:
    """A failed job, and where its newest evidence is, or why that is of no use."""

    row: Row
    evidence: Path | str


@click.command("rehearse")
@click.option(
    "--group",
    required=True,
    metavar="GROUP",
    help="A group of `errors`; its beginning is enough.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="Rehearse at most this many jobs, the newest first.",
)
@click.option("--scripts", is_flag=True, help="Let the pages' own scripts run, without a network.")
@run_settings("tasks", "browser", "headless")
@json_flag
def rehearse(
    group: str,
    limit: int,
    scripts: bool,
    tasks: tuple[str, ...],
    browser: str | None,
    headless: bool,
    as_json: bool,
) -> None:
    """Run a task as it is now on the pages at which a group of jobs failed, offline.

    The page is the `page.html` of each job's newest evidence; whatever else would be asked of the
    network is refused. No job, no evidence and no result is changed, no irreversible step taken:
    a job that comes to one passes as far as that.
    """
    with closing(open_database()) as db:
        found = dead_letters.find_group(db, group)
        key = found["fingerprint"]
        total = dead_letters.count(db, dead_letters.Scope(until=archive.now(db), group=key)).jobs
        cases = _cases(db, key, limit)
    known = registry.load(tasks)
    doing = {name: _task(known, name) for name in {case.row["task"] for case in cases}}
    if not as_json:
        heading = f"{key[:SHORT]}  {found['label']}"
        tell_all([heading, *([] if cases else ["no job of the group is in error: nothing to do"])])
    done = _rehearse_all(cases, doing, browser, headless, scripts, as_json=as_json)
    if as_json:
        tell_json(_report(found, total, done))
    elif done:
        tell_all(_summary(done, total, key))
        if output.is_asking_possible() and any(each.outlook is Outlook.PASSES for each in done):
            with closing(open_database()) as db:
                requeue.offer_retry(db, key)


def _task(known: Registry, name: str) -> Task:
    try:
        task = known.get(name)
    except TaskNotFound as error:
        raise UsageError(str(error)) from error
    if not task.browser:
        raise UsageError(f"task {name} has no page (browser=False), so nothing can be rehearsed")
    return task


def _cases(db: Database, fingerprint: str, limit: int) -> list[_Case]:
    queue, cases = Queue(db), []
    for each in dead_letters.jobs_of_group(db, fingerprint, limit):
        row = queue.get(each["id"])
        if row is not None:
            cases.append(_Case(row, _newest_evidence(queue.history(row["id"]))))
    return cases


def _newest_evidence(history: list[Row]) -> Path | str:
    newest = next((row for row in reversed(history) if row["evidence"]), None)
    if newest is None:
        return "there is no evidence of it"
    folder = evidence_place.folder_here(newest)
    if folder is None:
        return f"its evidence is on {newest['evidence_host']}"
    return folder if folder.is_dir() else f"its evidence is gone from {folder}"


def _rehearse_all(
    cases: list[_Case],
    tasks: dict[str, Task],
    browser: str | None,
    headless: bool,
    scripts: bool,
    *,
    as_json: bool,
) -> list[Rehearsed]:
    if not cases:
        return []
    log.configure("task")
    done = []
    with rehearse_offline(browser=browser, headless=headless, scripts=scripts) as rehearsal:
        for case in cases:
            # What the tasks print is not what was asked for.
            with output.tame_prints(aside=True):
                told = rehearsal.run(tasks[case.row["task"]], case.row, case.evidence)
            if not as_json:
                tell(f"  job {told.job_id}  {_line(told)}")
            done.append(told)
    return done


def _line(told: Rehearsed) -> str:
    word = WORDS[told.outlook]
    if told.outlook is not Outlook.PASSES:
        return f"{word}: {told.reason}"
    if told.stopped_before is not None:
        return f"{word} as far as its irreversible step {told.stopped_before!r}{_besides(told)}"
    text = json.dumps(told.result, ensure_ascii=False)
    return f"{word}: {text if len(text) <= SHOWN else text[:SHOWN] + '…'}{_besides(told)}"


def _besides(told: Rehearsed) -> str:
    """Say what a run would do beside the result, and a rehearsal does not."""
    parts = []
    if told.follow_ups:
        parts.append(f"would add {counted(told.follow_ups, 'job')}")
    if told.files:
        parts.append(f"would keep {', '.join(told.files)}")
    return f" ({'; '.join(parts)})" if parts else ""


def _counts(done: list[Rehearsed]) -> Counter[Outlook]:
    return Counter(each.outlook for each in done)


def _summary(done: list[Rehearsed], total: int, fingerprint: str) -> list[str]:
    counts = _counts(done)
    of = f" of {total:,}" if total > len(done) else ""
    parts = [f"{counts[Outlook.PASSES]:,} would pass", f"{counts[Outlook.FAILS]:,} would fail"]
    if counts[Outlook.UNKNOWN]:
        parts.append(f"{counts[Outlook.UNKNOWN]:,} cannot be rehearsed")
    lines = [f"rehearsed {len(done):,}{of} {'job' if total == 1 else 'jobs'}: {', '.join(parts)}"]
    if counts[Outlook.PASSES]:
        lines.append(f"next: {_retry(fingerprint)}")
    return lines


def _retry(fingerprint: str) -> str:
    return command_line("retry", "--group", fingerprint[:SHORT])


def _report(group: Row, total: int, done: list[Rehearsed]) -> dict[str, Any]:
    counts = _counts(done)
    return {
        "group": group["fingerprint"],
        "label": group["label"],
        "in_error": total,
        "rehearsed": len(done),
        **{outlook.value: counts[outlook] for outlook in Outlook},
        "jobs": [_plain(each) for each in done],
        "next": _retry(group["fingerprint"]) if counts[Outlook.PASSES] else None,
    }


def _plain(told: Rehearsed) -> dict[str, Any]:
    return {
        "job": told.job_id,
        "outlook": told.outlook.value,
        "result": told.result,
        "reason": told.reason,
        "stopped_before": told.stopped_before,
        "follow_ups": told.follow_ups,
        "files": list(told.files),
    }


COMMANDS = [rehearse]
