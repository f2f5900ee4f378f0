"""`launcher.py status` and `show ID`: what the queue looks like, and what happened to one job."""

from __future__ import annotations

import json
import os
from contextlib import closing
from pathlib import Path
from typing import Any

import click

from worker import control
from worker.cli.connection import open_database
from worker.cli.options import json_flag
from worker.cli.wording import duration, moment, plain
from worker.database import Database, Row
from worker.errors import UsageError
from worker.log import printable
from worker.queue import Queue
from worker.settings import PROJECT_ROOT


@click.command("status")
@json_flag
def status(as_json: bool) -> None:
    """Show how many jobs are in which state, and what is at work."""
    with closing(open_database()) as db:
        counts, at_work = Queue(db).counts(), db.fetch_all("jobs_in_progress")
        waiting = db.fetch_one("waiting_jobs") or {}
        run = db.fetch_one("latest_run")
        paused = control.paused(db)
    if as_json:
        report = {
            "jobs": counts,
            "waiting": waiting,
            "in_progress": at_work,
            "latest_run": run,
            "paused": paused,
        }
        click.echo(json.dumps(report, default=plain))
        return
    total = sum(counts.values())
    click.echo(f"{total:,} jobs: " + ", ".join(f"{n:,} {name}" for name, n in counts.items()))
    if paused is not None:
        click.echo(
            f"PAUSED since {moment(paused['set_at'])} by {paused['set_by']}: {paused['reason']}; "
            f"go on with: launcher.py resume"
        )
    if waiting.get("jobs"):
        due = float(waiting["next_due_seconds"])
        when = f"in {duration(due)}" if due > 0 else "now"
        click.echo(f"{waiting['jobs']:,} pending jobs wait for their time, the next {when}")
    for row in at_work:
        late = "" if row["lease_seconds"] >= 0 else "  LEASE OVER: run `make sweep`"
        click.echo(
            f"  worker {row['worker_id']}: job {row['id']} ({row['task']}), attempt "
            f"{row['attempts']}, for {duration(float(row['age_seconds']))}{late}"
        )
    if run is not None:
        click.echo(_run_line(run))


@click.command("show")
@click.argument("job_id", type=int, metavar="ID")
@json_flag
def show(job_id: int, as_json: bool) -> None:
    """Tell what happened to one job: its state, its attempts, its evidence."""
    with closing(open_database()) as db:
        job, history = _read(db, job_id)
    if as_json:
        job["payload"], job["result"] = _parsed(job["payload"]), _parsed(job["result"])
        click.echo(json.dumps({"job": job, "attempts": history}, default=plain))
        return
    errors_dir = Path(os.environ.get("NIGHTSHIFT_ERRORS_DIR") or PROJECT_ROOT / "errors")
    for line in [*_job_lines(job), *_attempt_lines(history, errors_dir)]:
        click.echo(printable(line))
    if job["last_error"]:
        click.echo("\nlast error:")
        for line in str(job["last_error"]).rstrip().splitlines():
            click.echo(f"  {printable(line)}")


def _read(db: Database, job_id: int) -> tuple[Row, list[Row]]:
    queue = Queue(db)
    job = queue.get(job_id)
    if job is None:
        raise UsageError(f"there is no job {job_id} in {db.settings}")
    return job, queue.history(job_id)


def _job_lines(job: Row) -> list[str]:
    cap = job["max_attempts"] or "the run's cap"
    lines = [
        f"job {job['id']} ({job['task']}): {job['status']}, "
        f"{job['attempts']} attempts of {cap}, priority {job['priority']}",
        f"  payload   {job['payload']}",
    ]
    if job["result"] is not None:
        lines.append(f"  result    {job['result']}")
    lines.append(f"  added     {moment(job['created_at'])}")
    if job["started_at"]:
        lines.append(f"  started   {moment(job['started_at'])} by worker {job['worker_id']}")
    if job["finished_at"]:
        lines.append(f"  finished  {moment(job['finished_at'])}")
    if job["status"] == "pending" and (job["not_before"] or job["wait_reason"]):
        until = f"until {moment(job['not_before'])}" if job["not_before"] else ""
        lines.append(f"  waits     {until} {job['wait_reason'] or ''}".rstrip())
    return lines


def _attempt_lines(history: list[Row], errors_dir: Path) -> list[str]:
    lines = []
    for row in history:
        took = ""
        if row["started_at"]:
            took = f" after {duration((row['finished_at'] - row['started_at']).total_seconds())}"
        lines.append(
            f"  attempt {row['attempt']} by worker {row['worker_id']}, "
            f"{moment(row['finished_at'])}: {row['outcome']}{took}"
        )
        if row["last_step"]:
            lines.append(f"    last step: {row['last_step']}")
        if row["reason"]:
            lines.append(f"    {row['reason']}")
        if row["evidence"]:
            lines.append(f"    evidence: {errors_dir / row['evidence']}")
    return lines


def _run_line(run: Row) -> str:
    line = f"latest run: {run['id']} on {run['host']}, started {moment(run['started_at'])}"
    if run["ended_at"]:
        return f"{line}, ended {moment(run['ended_at'])}"
    return f"{line}, last beat {duration(float(run['silent_seconds']))} ago"


def _parsed(text: str | None) -> Any:
    return None if text is None else json.loads(text)


COMMANDS = [status, show]
