"""`launcher.py run`: drain the queue with a pool of browser workers."""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from worker.claiming import held_back
from worker.cli import preflight
from worker.cli.connection import resolve, state_dir
from worker.cli.display import make_display
from worker.cli.options import CALLBACK_URL, DURATION, json_flag, setting
from worker.cli.summary import render
from worker.database.client import Database
from worker.errors import DatabaseUnavailable, NightshiftError, RunLocked
from worker.execution.worker_loop import worker_main
from worker.history import dead_letters
from worker.queue import runs
from worker.queue.claims import Queue
from worker.settings import PROJECT_ROOT, DatabaseSettings, RunSettings, seconds_until
from worker.supervisor.loop import Supervisor
from worker.supervisor.run_lock import RunLock
from worker.supervisor.view import Summary
from worker.system.fork import call_in_child

EXIT_TOO_MANY_FAILED = 10
EXIT_HELD_BACK = 11
EXIT_UNAVAILABLE = 69
LOCK_POLL_SECONDS = 1.0
SHOWN_GROUPS = 3


@click.command("run")
@setting("--workers", type=int, default=os.cpu_count() or 2, help="Worker processes to fork.")
@setting("--total", type=int, help="Slots over all hosts.  [default: --workers]")
@setting("--offset", type=int, default=0, help="First slot of this host.")
@setting("--tasks", multiple=True, metavar="FILE_OR_MODULE", help="Your own tasks; repeatable.")
@setting("--follow", is_flag=True, help="Keep waiting for new work instead of draining.")
@setting("--no-help", is_flag=True, help="Keep strictly to id % total = slot.")
@setting("--max-attempts", type=int, default=4, help="Attempts a job gets.")
@setting("--max-blocks", type=int, default=3, help="Times a job may be refused by its site.")
@setting(
    "--callback-url",
    type=CALLBACK_URL,
    metavar="URL",
    help="Told of the outcome of jobs without one of theirs.",
)
@setting(
    "--breaker-cooldown",
    type=DURATION,
    default="30s",
    help="How long a site that fails again and again is left alone; doubles.",
)
@setting(
    "--proxy-cooldown",
    type=DURATION,
    default="10m",
    help="How long a proxy is left alone after a block.",
)
@setting("--job-timeout", type=DURATION, default="10m", help="Time one attempt may take.")
@setting("--page-timeout", type=DURATION, default="30s", help="Playwright's default timeout.")
@setting("--retry-delay", type=DURATION, default="30s", help="First wait before a retry; doubles.")
@setting("--wait-retries", type=DURATION, default="15m", help="Longest wait for a retry to come.")
@setting("--lease", type=DURATION, default="3m", help="How long a claim holds without a beat.")
@setting(
    "--max-runtime", type=DURATION, help="Stop after this long; start nothing unlikely to finish."
)
@setting("--until", metavar="HH:MM", help="Stop at that local time, likewise.")
@setting(
    "--hang-grace", type=DURATION, default="40s", help="Past its timeout, a job is killed after."
)
@setting(
    "--server-grace",
    type=DURATION,
    default="60s",
    help="A restarted server's claims are not swept before.",
)
@setting("--recycle-jobs", type=int, default=500, help="New browser after so many jobs.")
@setting("--recycle-mb", type=int, default=1500, help="New browser above so much memory.")
@setting("--grace", type=DURATION, default="60s", help="Time to finish after the first signal.")
@setting(
    "--if-locked",
    type=click.Choice(["skip", "wait", "fail", "ignore"]),
    default="skip",
    help="When another run holds the lock.",
)
@setting("--fail-over", type=int, help="Exit with 10 when more jobs than this failed.")
@setting(
    "--errors-dir",
    type=click.Path(path_type=Path),
    default=PROJECT_ROOT / "errors",
    help="Where evidence goes.",
)
@setting(
    "--results-dir",
    type=click.Path(path_type=Path),
    default=PROJECT_ROOT / "results",
    help="Where files that tasks keep go.",
)
@setting("--browser", metavar="PATH", help="The Chromium to use.  [default: found]")
@setting("--headed", is_flag=True, help="Show the browsers.")
@setting("--quiet", is_flag=True, help="Print nothing when nothing was wrong.")
@json_flag
def run(**flags: Any) -> int:
    """Drain the queue with a pool of browser workers."""
    lock_wanted = flags["if_locked"] != "ignore"
    settings = _settings(flags)
    lock = RunLock(settings.state_dir, settings.database)
    try:
        if lock_wanted:
            _take_lock(lock, flags["if_locked"], flags["quiet"])
        run_id = _preflight(settings, lock_wanted, flags["if_locked"])
    except RunLocked as error:
        if flags["if_locked"] == "fail":
            raise
        if not flags["quiet"]:
            click.echo(f"nightshift: {error}; leaving it the work", err=True)
        return 0
    summary = _run_pool(settings, run_id, lock_wanted, flags["quiet"])
    _report(summary, flags)
    return _exit_code(summary, flags["fail_over"])


def _settings(flags: dict[str, Any]) -> RunSettings:
    values = {
        "workers": flags["workers"],
        "total": flags["total"] if flags["total"] is not None else flags["workers"],
        "offset": flags["offset"],
        "follow": flags["follow"],
        "help_others": not flags["no_help"],
        "max_attempts": flags["max_attempts"],
        "max_blocks": flags["max_blocks"],
        "breaker_cooldown_seconds": flags["breaker_cooldown"],
        "proxy_cooldown_seconds": flags["proxy_cooldown"],
        "callback_url": flags["callback_url"] or None,
        "lease_seconds": flags["lease"],
        "job_timeout_seconds": flags["job_timeout"],
        "page_timeout_seconds": flags["page_timeout"],
        "retry_delay_seconds": flags["retry_delay"],
        "wait_retries_seconds": flags["wait_retries"],
        "grace_seconds": flags["grace"],
        "errors_dir": flags["errors_dir"].absolute(),
        "results_dir": flags["results_dir"].absolute(),
        "state_dir": state_dir(),
        "tasks": tuple(flags["tasks"]),
        "browser": flags["browser"],
        "headless": not flags["headed"],
        "hang_grace_seconds": flags["hang_grace"],
        "server_grace_seconds": flags["server_grace"],
        "recycle_jobs": flags["recycle_jobs"],
        "recycle_mb": flags["recycle_mb"],
        "max_runtime_seconds": _runtime(flags["max_runtime"], flags["until"]),
        "quiet": flags["quiet"],
    }
    # Wrong flags are said before a server is started for them.
    settings = RunSettings(database=DatabaseSettings(), **values)
    return replace(settings, database=resolve())


def _runtime(max_runtime: float | None, until: str | None) -> float | None:
    """Return how long the run may last: whichever of both limits comes first."""
    limits = [] if max_runtime is None else [max_runtime]
    if until is not None:
        limits.append(seconds_until(until, datetime.now().astimezone()))
    return min(limits, default=None)


def _take_lock(lock: RunLock, if_locked: str, quiet: bool) -> None:
    if lock.try_acquire():
        return
    if if_locked != "wait":
        raise RunLocked(f"{lock.holder()} is at work on this database")
    if not quiet:
        click.echo(f"nightshift: waiting for {lock.holder()}", err=True)
    lock.wait(lambda: True)


def _preflight(settings: RunSettings, lock_wanted: bool, if_locked: str) -> int:
    name = preflight.lock_name() if lock_wanted else None
    while True:
        try:
            return call_in_child(preflight.check, settings, name, os.getpid())
        except NightshiftError as error:
            if error.exit_code != RunLocked.exit_code:
                raise
            if if_locked != "wait":
                raise RunLocked(str(error)) from error
        time.sleep(LOCK_POLL_SECONDS)


def _run_pool(settings: RunSettings, run_id: int, lock_wanted: bool, quiet: bool) -> Summary:
    display = make_display(settings, quiet)
    name = preflight.lock_name() if lock_wanted else None
    summary = Supervisor(settings, run_id, worker_main, display, name).run()
    try:
        return call_in_child(_finish, settings, summary)
    except NightshiftError as error:
        click.echo(f"nightshift: the run's end is not recorded: {error}", err=True)
        return summary


def _finish(settings: RunSettings, summary: Summary) -> Summary:
    """Count what is left, group what failed, and record the run's end."""
    with closing(Database(settings.database)) as db:
        summary = replace(summary, left=Queue(db).unfinished())
        try:
            if summary.stopped_by is None:
                slots = None if settings.help_others else settings.slots
                left = [item.as_json() for item in held_back.count(db, slots, settings.total)]
                summary = replace(summary, held_back=left)
            if summary.failed:
                groups = dead_letters.groups_of_run(db, summary.run_id, SHOWN_GROUPS)
                summary = replace(summary, groups=groups)
        except DatabaseUnavailable:
            # Grouping a very long run may take longer than is waited for; its end matters more.
            pass
        runs.end_run(db, summary.run_id, summary.as_json())
    return summary


def _report(summary: Summary, flags: dict[str, Any]) -> None:
    if flags["as_json"]:
        click.echo(json.dumps(summary.as_json()))
    elif not flags["quiet"] or summary.is_worth_a_word:
        render(summary, flags["errors_dir"], sys.stdout)


def _exit_code(summary: Summary, fail_over: int | None) -> int:
    if summary.is_unfinished:
        return EXIT_UNAVAILABLE
    if fail_over is not None and summary.failed > fail_over:
        return EXIT_TOO_MANY_FAILED
    return EXIT_HELD_BACK if summary.held_back else 0


COMMANDS = [run]
