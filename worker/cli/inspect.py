"""`launcher.py status`, `show ID`, `why ID`: the queue, one job's past, and what it waits for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from typing import Any

import click

from worker.claiming.closed_keys import ClosedKeys
from worker.claiming.why import sentence_about, wait_reason_now
from worker.cli import evidence_place, masked_job
from worker.cli.connection import open_database
from worker.cli.options import json_flag
from worker.cli.output import tell, tell_all, tell_json
from worker.cli.wording import counted, duration, moment
from worker.database.client import Database, Row
from worker.errors import UsageError
from worker.history import archive
from worker.json_text import parse_stored
from worker.profiles import checkouts, store
from worker.queue import pause, runs
from worker.queue.claims import Queue
from worker.queue.endings import half_done_at
from worker.recovery.sweep import sweep

MAX_CLOSED = 10


@click.command("status")
@json_flag
def status(as_json: bool) -> None:
    """Show how many jobs are in each status, and what is running."""
    with closing(open_database()) as db:
        report = _report(db)
    if as_json:
        tell_json(report)
        return
    tell_all(_status_lines(report))


@click.command("show")
@click.argument("job_id", type=int, metavar="ID")
@json_flag
def show(job_id: int, as_json: bool) -> None:
    """Show what happened to one job: its status, its attempts, its evidence."""
    with closing(open_database()) as db:
        job, history = _read(db, job_id)
        job["wait_reason"] = wait_reason_now(db, job)
    job, history = masked_job.masked(job, history)
    if as_json:
        job["payload"], job["result"] = _parsed(job["payload"]), _parsed(job["result"])
        tell_json({"job": job, "attempts": history})
        return
    tell_all([*_job_lines(job), *_attempt_lines(history)])
    if job["last_error"]:
        lines = str(job["last_error"]).rstrip().splitlines()
        tell_all(["", "last error:", *(f"  {line}" for line in lines)])


@click.command("why")
@click.argument("job_id", type=int, metavar="ID")
@json_flag
def why(job_id: int, as_json: bool) -> None:
    """Say in one sentence why a job is not running, or what became of it."""
    with closing(open_database()) as db:
        job, history = _read(db, job_id)
        sentence = sentence_about(db, masked_job.masked(job, history)[0], history)
    if as_json:
        tell_json({"id": job_id, "why": sentence})
    else:
        tell(sentence)


def _report(db: Database) -> dict[str, Any]:
    closures = ClosedKeys(db)
    closures.refresh()
    profiles, accounts_paused = store.counts(db)
    return {
        "jobs": Queue(db).counts(),
        "waiting": db.fetch_one("waiting_jobs") or {},
        "in_progress": _in_progress(db),
        "latest_run": runs.latest(db),
        "paused": pause.paused(db),
        "closed": [asdict(closure) for closure in closures.closed.values()],
        "profiles": profiles,
        "accounts_paused": accounts_paused,
        "checkouts_overdue": checkouts.count_overdue(db),
    }


def _in_progress(db: Database) -> list[Row]:
    """List what is at work; `gone` says of what has no owner any more why a sweep would take it."""
    gone = {item.job_id: item.reason for item in sweep(db, Queue(db), dry_run=True)}
    return [{**row, "gone": gone.get(row["id"])} for row in db.fetch_all("jobs_in_progress")]


def _status_lines(report: dict[str, Any]) -> Iterator[str]:
    counts, paused, delayed = report["jobs"], report["paused"], report["waiting"]
    total = sum(counts.values())
    yield f"{counted(total, 'job')}: " + ", ".join(f"{n:,} {name}" for name, n in counts.items())
    if paused is not None:
        yield (
            f"PAUSED since {moment(paused['set_at'])} by {paused['set_by']}: {paused['reason']}; "
            f"continue with: launcher.py resume"
        )
    if delayed.get("jobs"):
        due = float(delayed["next_due_seconds"])
        when = f"in {duration(due)}" if due > 0 else "now"
        yield f"waiting for their time: {counted(delayed['jobs'], 'pending job')}, next {when}"
    if report["profiles"] or report["accounts_paused"]:
        yield _profile_line(report["profiles"], report["accounts_paused"])
    if report["checkouts_overdue"]:
        yield f"OVERDUE: {counted(report['checkouts_overdue'], 'checkout')}; see: launcher.py todo"
    yield from _closed_lines(report["closed"])
    for row in report["in_progress"]:
        yield (
            f"  worker {row['worker_id']}: job {row['id']} ({row['task']}), attempt "
            f"{row['attempts']}, for {duration(float(row['age_seconds']))}"
            + (f"  GONE: {row['gone']}; put it back: make sweep" if row["gone"] else "")
        )
    if report["latest_run"] is not None:
        yield _run_line(report["latest_run"])


def _read(db: Database, job_id: int) -> tuple[Row, list[Row]]:
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
        f"job {job['id']} ({job['task']}): {job['status']}{after} "
        f"{counted(job['attempts'], 'attempt')} (limit {limit}), priority {job['priority']}",
        f"  payload   {job['payload']}",
    ]
    if job["profile"] or job["account"]:
        whose = f"account {job['account']}" if job["account"] else ""
        lines.append(f"  profile   {job['profile'] or 'any of'} {whose}".rstrip())
    if job["result"] is not None:
        lines.append(f"  result    {job['result']}")
    lines.append(f"  added     {moment(job['created_at'])}")
    if job["started_at"]:
        lines.append(f"  started   {moment(job['started_at'])} by worker {job['worker_id']}")
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
    if job["status"] == "pending" and (job["not_before"] or job["wait_reason"]):
        until = f"until {moment(job['not_before'])}" if job["not_before"] else ""
        lines.append(f"  waits     {until} {job['wait_reason'] or ''}".rstrip())
    return lines


def _half_done_line(job: Row) -> str:
    line = f"  HALF DONE {half_done_at(job['irreversible_step'])}"
    if job.get("archived_at"):
        return line
    return (
        f"{line}; it is not tried again by itself. Look at the site, then: "
        f"launcher.py discard --id {job['id']} · launcher.py retry --id {job['id']} --half-done"
    )


def _attempt_lines(history: list[Row]) -> list[str]:
    lines = []
    for row in history:
        took = ""
        if row["started_at"]:
            took = f" after {duration((row['finished_at'] - row['started_at']).total_seconds())}"
        lines.append(
            f"  attempt {row['attempt']} by worker {row['worker_id']}, "
            f"{moment(row['finished_at'])}: {row['outcome']}{took}"
            + (f", at fault: {row['cause']}" if row["cause"] else "")
        )
        if used := _used(row):
            lines.append(f"    used: {used}")
        if row["last_step"]:
            lines.append(f"    last step: {row['last_step']}")
        if row["reason"]:
            lines.append(f"    {row['reason']}")
        if where := evidence_place.place(row):
            lines.append(f"    evidence: {where}")
    return lines


def _used(row: Row) -> str:
    """Name the profile, account and proxy that an attempt really used, if it used any."""
    named = ((name, row[f"used_{name}"]) for name in ("profile", "account", "proxy"))
    return ", ".join(f"{name} {value}" for name, value in named if value is not None)


def _profile_line(profiles: dict[str, int], accounts_paused: int) -> str:
    states = ", ".join(f"{number:,} {state}" for state, number in profiles.items())
    paused = f"{counted(accounts_paused, 'account')} paused"
    return f"profiles: {states or 'none'}" + (f"; {paused}" if accounts_paused else "")


def _closed_lines(closed: list[dict[str, Any]]) -> Iterator[str]:
    for closure in closed[:MAX_CLOSED]:
        seconds = closure["seconds"]
        opens = "" if seconds is None else f" (next check in {duration(max(0.0, seconds))})"
        yield f"held back: {closure['reason']}{opens}"
    if len(closed) > MAX_CLOSED:
        yield f"held back: {len(closed) - MAX_CLOSED} more; ask: launcher.py why ID"


def _run_line(run: Row) -> str:
    line = f"latest run: {run['id']} on {run['host']}, started {moment(run['started_at'])}"
    if run["ended_at"]:
        return f"{line}, ended {moment(run['ended_at'])}"
    return f"{line}, last heartbeat {duration(float(run['silent_seconds']))} ago"


def _parsed(text: str | None) -> Any:
    return None if text is None else parse_stored(text)


COMMANDS = [status, show, why]
