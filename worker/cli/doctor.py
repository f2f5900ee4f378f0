"""`launcher.py doctor`: check everything that a run needs. Each failed check names its fix."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from worker.browser.browser_choice import BrowserChoice
from worker.cli import (
    browser_check,
    door_check,
    endpoint_check,
    evidence_check,
    folder_check,
    notify_check,
    privacy_check,
    server_check,
    vendor_check,
)
from worker.cli.connection import resolve, state_dir
from worker.cli.options import OF_BROWSER, json_flag, run_settings
from worker.cli.output import tell, tell_json
from worker.cli.preflight import check_folder
from worker.cli.wording import moment
from worker.database import migrations
from worker.database.client import Database, Row, Transaction
from worker.database_settings import DatabaseSettings
from worker.errors import NightshiftError, SettingsError
from worker.installation import checkout
from worker.project import errors_dir, project_dir, results_dir
from worker.queue import pause
from worker.settings import task_sources
from worker.tasks import registry

MIN_FREE_BYTES = 1_000_000_000
MIN_PYTHON = (3, 11)
_RESUME = "resume with: python launcher.py resume"


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found."""

    check: str
    is_ok: bool
    text: str
    exit_code: int = 0


@click.command("doctor")
@run_settings(*OF_BROWSER)
@json_flag
def doctor(as_json: bool, **browser: Any) -> int:
    """Check Python, database, schema, tasks, browser and folders; say how to fix what is wrong."""
    wanted = BrowserChoice(**browser)
    findings = [_examine(name, check) for name, check in _checks(wanted)]
    if as_json:
        tell_json([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            mark = "ok  " if finding.is_ok else "FAIL"
            tell(f"{mark} {finding.check}: {finding.text}")
    return next((finding.exit_code for finding in findings if not finding.is_ok), 0)


def _checks(browser: BrowserChoice) -> list[tuple[str, Callable[[], str]]]:
    return [
        ("python", _python),
        ("database", lambda: _database(resolve())),
        ("schema", lambda: _schema(resolve())),
        ("server", lambda: server_check.check(resolve())),
        ("writing", lambda: _writing(resolve())),
        ("queue", lambda: _queue(resolve())),
        ("ways out", lambda: door_check.check(resolve())),
        ("folders", lambda: folder_check.check(resolve())),
        ("vendors", lambda: vendor_check.check(resolve())),
        ("tasks", _tasks),
        ("browser", lambda: browser_check.check(browser)),
        ("browsers elsewhere", endpoint_check.check),
        ("errors folder", lambda: _folder("NIGHTSHIFT_ERRORS_DIR", errors_dir())),
        ("results folder", lambda: _folder("NIGHTSHIFT_RESULTS_DIR", results_dir())),
        ("state folder", lambda: _folder("NIGHTSHIFT_STATE_DIR", state_dir())),
        ("shared evidence", evidence_check.check),
        ("notify", notify_check.check),
        ("privacy", privacy_check.check),
        ("disk", _disk),
    ]


def _examine(name: str, check: Callable[[], str]) -> Finding:
    try:
        return Finding(name, True, check())
    except NightshiftError as error:
        return Finding(name, False, str(error), error.exit_code)


def _python() -> str:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < MIN_PYTHON:
        then = ", then make setup" if checkout() is not None else ""
        raise SettingsError(f"Python {version} is too old; install 3.11 or newer{then}")
    return version


def _database(settings: DatabaseSettings) -> str:
    with closing(Database(settings)) as db:
        version = db.run_statement("SELECT VERSION() AS version")[0]["version"]
    return f"{settings} answers, version {version}"


def _schema(settings: DatabaseSettings) -> str:
    with closing(Database(settings, read_timeout_seconds=60.0)) as db:
        made = migrations.ensure(db)
    return "was empty, now up to date" if made else "up to date"


def _writing(settings: DatabaseSettings) -> str:
    """Write to the queue's tables as a run does, then roll it back."""

    def write(tx: Transaction) -> None:
        tx.execute("try_adding")
        tx.execute("try_changing")
        tx.execute("try_history")
        tx.execute("try_removing")
        tx.execute("try_worker")
        tx.discard()

    with closing(Database(settings)) as db:
        db.transaction(write)
    return "jobs can be added, changed and removed"


def _queue(settings: DatabaseSettings) -> str:
    with closing(Database(settings)) as db:
        pauses = pause.all_pauses(db)
    said = []
    if pauses.everything is not None:
        said.append(f"{_pause('paused', pauses.everything)}; no job is claimed; {_RESUME}")
    for row in pauses.queues:
        named = shlex.quote(row["queue"])
        said.append(
            f"{_pause(f'queue {named} is paused', row)}; none of its jobs is claimed; "
            f"{_RESUME} --queue {named}"
        )
    if said:
        raise SettingsError(". ".join(said))
    return "not paused"


def _pause(what: str, row: Row) -> str:
    return f"{what} since {moment(row['set_at'])} by {row['set_by']}: {row['reason']}"


def _tasks() -> str:
    return ", ".join(registry.load(task_sources(os.environ)).names)


def _folder(setting: str, folder: Path) -> str:
    check_folder(folder.absolute(), setting)
    return f"{folder.absolute()} is writable"


def _disk() -> str:
    free = shutil.disk_usage(project_dir()).free
    if free < MIN_FREE_BYTES:
        raise SettingsError(
            f"only {free / 1e6:.0f} MB free at {project_dir()}; free some space, or set "
            f"NIGHTSHIFT_ERRORS_DIR and NIGHTSHIFT_STATE_DIR to a larger disk"
        )
    return f"{free / 1e9:.0f} GB free"


COMMANDS = [doctor]
