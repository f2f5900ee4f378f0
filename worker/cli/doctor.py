"""`launcher.py doctor`: check everything that a run needs. Each failed check names its fix."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from worker.browser import sandbox
from worker.browser.options import BrowserOptions, find_browser
from worker.browser.session import BrowserSession
from worker.cli import door_check, notify_check, privacy_check, server_check
from worker.cli.connection import resolve, state_dir
from worker.cli.options import json_flag
from worker.cli.output import tell, tell_json
from worker.cli.preflight import check_folder
from worker.cli.wording import moment
from worker.database import migrations
from worker.database.client import Database, Transaction
from worker.database_settings import DatabaseSettings
from worker.errors import NightshiftError, SettingsError
from worker.project import errors_dir, project_dir, results_dir
from worker.queue import pause
from worker.settings import task_sources
from worker.tasks import registry

MIN_FREE_BYTES = 1_000_000_000
MIN_PYTHON = (3, 11)


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found."""

    check: str
    is_ok: bool
    text: str
    exit_code: int = 0


@click.command("doctor")
@json_flag
def doctor(as_json: bool) -> int:
    """Check Python, database, schema, tasks, browser and folders; say how to fix what is wrong."""
    findings = [_examine(name, check) for name, check in _checks()]
    if as_json:
        tell_json([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            mark = "ok  " if finding.is_ok else "FAIL"
            tell(f"{mark} {finding.check}: {finding.text}")
    return next((finding.exit_code for finding in findings if not finding.is_ok), 0)


def _checks() -> list[tuple[str, Callable[[], str]]]:
    return [
        ("python", _python),
        ("database", lambda: _database(resolve())),
        ("schema", lambda: _schema(resolve())),
        ("server", lambda: server_check.check(resolve())),
        ("writing", lambda: _writing(resolve())),
        ("queue", lambda: _queue(resolve())),
        ("ways out", lambda: door_check.check(resolve())),
        ("tasks", _tasks),
        ("browser", _browser),
        ("errors folder", lambda: _folder("NIGHTSHIFT_ERRORS_DIR", errors_dir())),
        ("results folder", lambda: _folder("NIGHTSHIFT_RESULTS_DIR", results_dir())),
        ("state folder", lambda: _folder("NIGHTSHIFT_STATE_DIR", state_dir())),
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
        raise SettingsError(f"Python {version} is too old; install 3.11 or newer, then make setup")
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
        paused = pause.paused(db)
    if paused is not None:
        raise SettingsError(
            f"paused since {moment(paused['set_at'])} by {paused['set_by']}: {paused['reason']}; "
            f"no job is claimed; resume with: python launcher.py resume"
        )
    return "not paused"


def _tasks() -> str:
    return ", ".join(registry.load(task_sources(os.environ)).names)


def _browser() -> str:
    executable = find_browser(os.environ.get("NIGHTSHIFT_BROWSER"))
    state_dir().mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="doctor-", dir=state_dir()))
    session = BrowserSession(BrowserOptions(tmp_dir=folder, executable=executable))
    try:
        session.open()
        page = session.page_for_job()
        page.set_content("<title>Nightshift</title>")
        title = page.title()
        confined = sandbox.describe(os.getpid())
    finally:
        session.close()
    name = executable or "the browser that Playwright installed"
    return f"{name} opens a page ({title}); {confined}"


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
