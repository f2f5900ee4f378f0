"""`launcher.py show ID` and `why ID`: one job's past, and what it waits for."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from typing import Any

import click

from worker.claiming.why import sentence_about, wait_reason_now
from worker.cli.connection import open_database
from worker.cli.options import json_flag
from worker.cli.output import tell, tell_all, tell_json
from worker.cli.wording import counted, duration, moment, on_host
from worker.database.client import Database, Row
from worker.errors import UsageError
from worker.evidence import evidence_place, last_good, masked_job
from worker.evidence.files import facts_of
from worker.evidence.last_good import LastGood
from worker.evidence.pictures import FAILURE, LAST_GOOD
from worker.history import archive
from worker.installation import command_line
from worker.json_text import parse_stored
from worker.models import DEFAULT_QUEUE, Outcome
from worker.queue import added_jobs, irreversible
from worker.queue.added_jobs import AddedJobs
from worker.queue.claims import Queue
from worker.queue.settlements import HALF_DONE, half_done_at
from worker.reasons import kept
from worker.recovery import live_runs

# Of a job that takes many irreversible steps, the latest are shown.
SHOWN_STEPS = 5


@click.command("show")
@click.argument("job_id", type=int, metavar="ID")
@json_flag
def show(job_id: int, as_json: bool) -> None:
    """Show what happened to one job: its status, its attempts, its evidence."""
    with closing(open_database()) as db:
        job, history = read_job(db, job_id)
        job["wait_reason"] = wait_reason_now(db, job)
        added = added_jobs.of_job(db, job_id)
        hosts = live_runs.hosts_of(db, [row["incarnation"] for row in (job, *history)])
    for row in (job, *history):
        row["host"] = hosts.get(row["incarnation"])
    job, history = masked_job.masked(job, history)
    if as_json:
        job["payload"], job["result"] = _parsed(job["payload"]), _parsed(job["result"])
        attempts = [{**row, "last_good": _plain_last_good(row)} for row in history]
        follow_ups = {"jobs": added.number, "first": added.first}
        tell_json({"job": job, "attempts": attempts, "follow_ups": follow_ups})
        return
    tell_all([*_job_lines(job), *_added_lines(job, added), *_attempt_lines(history)])
    if job["last_error"]:
        lines = str(job["last_error"]).rstrip().splitlines()
        tell_all(["", "last error:", *(f"  {line}" for line in lines)])


@click.command("why")
@click.argument("job_id", type=int, metavar="ID")
@json_flag
def why(job_id: int, as_json: bool) -> None:
    """Say in one sentence why a job is not running, or what became of it."""
    with closing(open_database()) as db:
        job, history = read_job(db, job_id)
        sentence = sentence_about(db, masked_job.masked(job, history)[0], history)
    if as_json:
        tell_json({"id": job_id, "why": sentence})
    else:
        tell(sentence)


def read_job(db: Database, job_id: int) -> tuple[Row, list[Row]]:
    """Read a job, archived or not, and its attempts; raises UsageError if there is none."""
    queue = Queue(db)
    job = queue.get(job_id)
    if job is None and (archived := archive.find(db, job_id)) is not None:
        return archived
    if job is None:
        raise UsageError(f"there is no job {job_id} in {db.settings}")
    return job, queue.history(job_id)


def _job_lines(job: Row) -> list[str]:
    limit = job["max_attempts"] or "--max-attempts of the run"
    after = " after" if job["status"] in ("done", "error") else ","
    lines = [
        f"job {job['id']} ({job['task']}): {_state(job)}{after} "
        f"{counted(job['attempts'], 'attempt')} (limit {limit}), priority {job['priority']}",
        f"  payload   {job['payload']}",
    ]
    lines += _belonging_lines(job)
    if job["result"] is not None:
        lines.append(f"  result    {job['result']}")
    lines.append(f"  added     {moment(job['created_at'])}")
    if job["started_at"]:
        lines.append(f"  started   {moment(job['started_at'])}{_by(job)}")
    if job["status"] == "in_progress" and (used := _used(job)):
        lines.append(f"  uses      {used}")
    if job["finished_at"]:
        lines.append(f"  finished  {moment(job['finished_at'])}")
    if job.get("archived_at"):
        lines.append(
            f"  archived  {moment(job['archived_at'])} by {job['archived_by']}: "
            f"{job['archive_reason']}"
        )
    if (step := job["irreversible_step"]) is not None:
        is_at_it = job["status"] == "in_progress"
        lines.append(f"  at        {step!r}, irreversible" if is_at_it else _half_done_line(job))
    if (steps := irreversible.taken(job["taken_steps"])) and job["status"] != "done":
        lines.append(f"  taken     {', '.join(map(repr, steps[-SHOWN_STEPS:]))}; {_not_again(job)}")
    if job["status"] == "pending" and (job["not_before"] or job["wait_reason"]):
        until = f"until {moment(job['not_before'])}" if job["not_before"] else ""
        lines.append(f"  waits     {until} {job['wait_reason'] or ''}".rstrip())
    return lines


def _state(job: Row) -> str:
    """Name a job's status; one that was not over when it left the queue was cancelled."""
    is_over = job["status"] in ("done", "error")
    return str(job["status"]) if is_over or not job.get("archived_at") else "cancelled"


def _belonging_lines(job: Row) -> list[str]:
    """Say to what a job belongs: its queue, batch, profile and account."""
    lines = []
    if job["queue"] != DEFAULT_QUEUE:
        lines.append(f"  queue     {job['queue']}")
    if job["batch"] is not None:
        lines.append(f"  batch     {job['batch']}")
    if job["profile"] or job["account"]:
        whose = f"account {job['account']}" if job["account"] else ""
        lines.append(f"  profile   {job['profile'] or 'any of'} {whose}".rstrip())
    return lines


def _added_lines(job: Row, added: AddedJobs) -> list[str]:
    """Say which job added this one, and which jobs it has added itself."""
    lines = []
    if job["parent_id"] is not None:
        first = f", first of its chain: job {job['root_id']}" * (job["root_id"] != job["parent_id"])
        lines.append(f"  added by  job {job['parent_id']}, depth {job['depth']}{first}")
    if added.number:
        shown = ", ".join(f"{row['id']} ({row['status']})" for row in added.first)
        rest = added.number - len(added.first)
        more = f", … {rest:,} more" if rest else ""
        lines.append(f"  has added {counted(added.number, 'job')}: {shown}{more}")
    return lines


def _not_again(job: Row) -> str:
    said = "no later attempt takes that again"
    if job["status"] != "error" or job.get("archived_at"):
        return said
    return f"{said}, unless you say so: {command_line('retry', '--id', job['id'])} --half-done"


def _half_done_line(job: Row) -> str:
    line = f"  HALF DONE {half_done_at(job['irreversible_step'])}"
    if job.get("archived_at"):
        return line
    return (
        f"{line}; it is not tried again by itself. Look at the site, then: "
        f"{command_line('discard', '--id', job['id'])} · "
        f"{command_line('retry', '--id', job['id'])} --half-done"
    )


def _attempt_lines(history: list[Row]) -> list[str]:
    lines = []
    for row in history:
        took = ""
        if row["started_at"]:
            took = f" after {duration((row['finished_at'] - row['started_at']).total_seconds())}"
        lines.append(
            f"  attempt {row['attempt']}{_by(row)}, "
            f"{moment(row['finished_at'])}: {_ended(row)}{took}"
            + (f", at fault: {row['cause']}" if row["cause"] else "")
        )
        if used := _used(row):
            lines.append(f"    used: {used}")
        if row["last_step"]:
            lines.append(f"    last step: {row['last_step']}")
        if row["reason"] or row["outcome"] != Outcome.DONE:
            lines.append(f"    {kept(row['reason'])}")
        if where := evidence_place.place(row):
            lines.append(f"    evidence: {where}")
        if good := _last_good(row):
            files = f"{LAST_GOOD.file_name} there, beside {FAILURE.file_name}"
            lines.append(f"    {good.headline(moment)}: {files}")
            lines += [f"    {change}"] if (change := good.change(moment)) else []
    return lines


def _by(row: Row) -> str:
    """Name the worker and its host, if they are known: what was written in plain SQL has none."""
    if row["worker_id"] is None:
        return ""
    return f" by worker {row['worker_id']}{on_host(row.get('host'))}"


def _last_good(row: Row) -> LastGood | None:
    folder = evidence_place.folder_here(row)
    return None if folder is None else last_good.of_facts(facts_of(folder))


def _ended(row: Row) -> str:
    """Say how an attempt ended; one that may have left its job half done promises no retry."""
    is_half_done = (row["reason"] or "").startswith(HALF_DONE)
    return "broken off" if is_half_done else str(row["outcome"])


def _used(row: Row) -> str:
    """Name the profile, account and proxy that an attempt really used, if it used any."""
    named = ((name, row[f"used_{name}"]) for name in ("profile", "account", "proxy"))
    return ", ".join(f"{name} {value}" for name, value in named if value is not None)


def _plain_last_good(row: Row) -> dict[str, Any] | None:
    return asdict(found) if (found := _last_good(row)) else None


def _parsed(text: str | None) -> Any:
    return None if text is None else parse_stored(text)


COMMANDS = [show, why]
