"""Checks before the first fork: database, schema, lock, tasks, browser, errors folder.

Runs in a child of the launcher, so that the launcher never holds a connection nor runs task files.
"""

from __future__ import annotations

import os
import socket
import tempfile
from contextlib import closing
from pathlib import Path

from worker.browser.options import find_browser
from worker.database import migrations
from worker.database.client import Database
from worker.errors import RunLocked, SettingsError
from worker.queue import runs
from worker.settings import RunSettings
from worker.tasks import registry


def check(settings: RunSettings, lock_name: str | None, launcher_pid: int) -> int:
    """Check all of it and record the run; return its id. The first thing wrong is raised."""
    check_errors_dir(settings.errors_dir)
    registry.load(settings.tasks)
    find_browser(settings.browser)
    with closing(Database(settings.database)) as db:
        migrations.ensure(db)
        if lock_name is not None:
            row = db.fetch_one("take_run_lock", name=lock_name, wait_seconds=0)
            if row is None or row["locked"] != 1:
                raise RunLocked("another run on this host holds the database's lock")
        return runs.start_run(db, settings, launcher_pid)


def check_errors_dir(folder: Path) -> None:
    """Make sure that evidence can be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise SettingsError(
            f"--errors-dir {folder} cannot be written: {error.strerror}; "
            f"make it writable or choose another with --errors-dir"
        ) from error


def lock_name() -> str:
    """Name the run's lock in the database: one per host."""
    return socket.gethostname() or str(os.getuid())
