"""`launcher.py run`: drain the queue with a pool of browser workers."""

from __future__ import annotations

import os
import time
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from typing import Any

import click

from worker import log
from worker.claiming import held_back, scope
from worker.claiming.drain import unfinished
from worker.claiming.scope import Scope
from worker.cli import preflight, report_files, variables
from worker.cli.connection import resolve, state_dir
from worker.cli.display import make_display
from worker.cli.endpoints import close_left_sessions, take_endpoints
from worker.cli.groups import HELP_EPILOG
from worker.cli.notify import notify_targets
from worker.cli.options import json_flag, run_settings
from worker.cli.output import tell, tell_all, tell_error, tell_json
from worker.cli.summary import render
from worker.database.client import Database
from worker.database.locks import Lock
from worker.database_settings import DatabaseSettings
from worker.errors import DatabaseUnavailable, NightshiftError, OutputLost, RunLocked
from worker.execution.worker_loop import worker_main
from worker.exit_codes import ExitCode
from worker.history import dead_letters
from worker.queue import runs
from worker.reporting import nights
from worker.reporting.night.zone import local_zone
from worker.settings import RunSettings
from worker.supervisor.announcer import Announcer
from worker.supervisor.loop import Supervisor
from worker.supervisor.ping import Ping
from worker.supervisor.run_lock import RunLock
from worker.supervisor.service_manager import ServiceManager
from worker.supervisor.view import Summary
from worker.system.fork import call_in_child
from worker.system.identity import host_index
from worker.tasks import registry
from worker.time_of_day import seconds_until
from worker.tracing import run_span

LOCK_POLL_SECONDS = 1.0
MAX_LOCK_POLL_SECONDS = 10.0
SHOWN_GROUPS = 3


@click.command("run", epilog=HELP_EPILOG)
@run_settings()
@json_flag
def run(as_json: bool, **values: Any) -> int:
    """Drain the queue with a pool of browser workers.

    The run ends when no job is pending or in progress. Each flag has a variable that can be set in
    the environment or in .env: --errors-dir is NIGHTSHIFT_ERRORS_DIR; in nightshift.toml it is
    errors-dir in the table [run].
    """
    if values["log_format"] == "json":
        log.write_json()
    if not values["quiet"]:
        variables.warn_of_unread(os.environ)
    # First of all: no child is to inherit its variables.
    service = ServiceManager.taken_from(os.environ)
    announcer = Announcer(Ping(values["ping_url"]), state_dir())
    try:
        values["notify"] = announcer.urls = notify_targets(values["notify"])
        take_endpoints(values)
        announcer.settings = _settings(values)
        return _run(announcer.settings, announcer, service, as_json)
    except RunLocked:
        # The run that holds the lock tells how it goes.
        raise
    except NightshiftError as error:
        announcer.broke_off(error.exit_code, f"nightshift: {error}")
        raise
    except Exception as error:
        reason = f"nightshift: {type(error).__name__}: {error}"
        announcer.broke_off(ExitCode.UNEXPECTED, reason, is_ours=True)
        raise


def _run(
    settings: RunSettings, announcer: Announcer, service: ServiceManager, as_json: bool
) -> int:
    lock = RunLock(settings.state_dir, settings.database, settings.queues)
    shared = preflight.run_locks(settings)
    try:
        if settings.if_locked != "ignore":
            _take_lock(lock, settings, service)
        report_files.prepare(settings)
        # The built-in tasks are our own code: every child inherits them.
        registry.load()
        run_id = _preflight(settings, shared, service)
    except RunLocked as error:
        if settings.if_locked == "fail":
            raise
        if not settings.quiet:
            tell(f"nightshift: {error}; this run leaves the jobs to it", err=True)
        # Who ends well without having been ready has failed, for systemd.
        service.ready(f"{error}")
        return ExitCode.OK
    announcer.start()
    began_at = time.time_ns()
    summary = _run_pool(settings, run_id, shared, service, announcer)
    _report(summary, settings, as_json)
    _send_span(summary, settings, began_at)
    report_files.write(settings, summary)
    code = _exit_code(summary)
    announcer.end(summary, code, render(summary, settings.errors_dir))
    return code


def _settings(values: dict[str, Any]) -> RunSettings:
    # Wrong flags are reported before a server is started for them.
    settings = RunSettings(database=DatabaseSettings(), state_dir=state_dir(), **values)
    limits = [] if settings.max_runtime_seconds is None else [settings.max_runtime_seconds]
    if settings.until is not None:
        limits.append(seconds_until(settings.until, datetime.now().astimezone()))
    if settings.slots == "indexed":
        settings = replace(settings, offset=settings.workers * host_index(os.environ))
    return replace(settings, max_runtime_seconds=min(limits, default=None), database=resolve())


def _take_lock(lock: RunLock, settings: RunSettings, service: ServiceManager) -> None:
    if lock.try_acquire():
        return
    if settings.if_locked != "wait":
        raise RunLocked(f"{lock.holder()} is at work on this database")
    if not settings.quiet:
        tell(f"nightshift: waiting for {lock.holder()}", err=True)
    service.say(f"waiting for {lock.holder()}")
    lock.wait(lambda: True)


def _preflight(settings: RunSettings, shared: tuple[Lock, ...], service: ServiceManager) -> int:
    pause = 0.0
    while True:
        try:
            return call_in_child(preflight.check, settings, shared, os.getpid())
        except NightshiftError as error:
            if error.exit_code != RunLocked.exit_code:
                raise
            if settings.if_locked != "wait":
                raise RunLocked(str(error)) from error
            if not pause and not settings.quiet:
                tell(f"nightshift: waiting: {error}", err=True)
            service.say(f"waiting: {error}")
        pause = min(pause + LOCK_POLL_SECONDS, MAX_LOCK_POLL_SECONDS)
        time.sleep(pause)


def _run_pool(
    settings: RunSettings,
    run_id: int,
    shared: tuple[Lock, ...],
    service: ServiceManager,
    announcer: Announcer,
) -> Summary:
    display = make_display(settings, settings.quiet)
    supervisor = Supervisor(settings, run_id, worker_main, display, shared, service)
    summary = replace(supervisor.run(), fail_over=settings.fail_over)
    close_left_sessions(settings)
    announcer.is_silence_said = supervisor.is_silence_said
    try:
        return call_in_child(_finish, settings, summary)
    except NightshiftError as error:
        tell_error(f"the end of the run could not be recorded: {error}")
        return replace(summary, is_recorded=False)


def _finish(settings: RunSettings, summary: Summary) -> Summary:
    """Count what is left, group what failed, and record the run's end."""
    with closing(Database(settings.database)) as db:
        own = scope.of_run(db, summary.run_id)
        counted = own if summary.has_strangers else Scope()
        summary = replace(summary, left=unfinished(db, counted))
        try:
            if summary.stopped_by is None:
                slots = None if settings.help_others else settings.own_slots
                found = held_back.count(db, slots, settings.total or 1, scope=own)
                summary = replace(summary, held_back=[item.as_json() for item in found])
            if summary.failed:
                new_since = nights.new_since_of_run(db, summary.run_id, local_zone())
                groups = dead_letters.groups_of_run(db, summary.run_id, SHOWN_GROUPS, new_since)
                summary = replace(summary, groups=groups)
        except DatabaseUnavailable:
            # Grouping a very long run may time out; recording its end matters more.
            pass
        code = _exit_code(summary)
        runs.end_run(db, summary.run_id, {**summary.as_json(), "exit_code": int(code)})
    return summary


def _report(summary: Summary, settings: RunSettings, as_json: bool) -> None:
    if as_json:
        tell_json(summary.as_json())
    elif not settings.quiet or summary.is_worth_a_word:
        try:
            tell_all(render(summary, settings.errors_dir))
        except OutputLost as error:
            # The night's work is done and recorded: its exit code is that of the work.
            tell_error(f"{error}; the run itself is done and recorded")


def _send_span(summary: Summary, settings: RunSettings, began_at: int) -> None:
    """Tell OpenTelemetry of the run, where that is wanted: numbers, and what stopped it."""
    if settings.otel is None:
        return
    facts: dict[str, int | str] = {
        "nightshift.workers": len(summary.workers),
        "nightshift.jobs.done": summary.done,
        "nightshift.jobs.failed": summary.failed,
        "nightshift.jobs.retried": summary.retried,
        "nightshift.worker.deaths": summary.crashes,
        "nightshift.stopped_by": summary.stopped_by or "",
        "process.exit.code": int(_exit_code(summary)),
    }
    run_span.send(settings.otel, summary.run_id, began_at, facts)


def _exit_code(summary: Summary) -> ExitCode:
    if summary.is_unfinished or not summary.is_recorded:
        return ExitCode.UNAVAILABLE
    if summary.has_too_many_failed:
        return ExitCode.TOO_MANY_FAILED
    return ExitCode.HELD_BACK if summary.held_back else ExitCode.OK


COMMANDS = [run]
