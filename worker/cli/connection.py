"""The database of a command: found by its settings, its schema checked, with a long timeout."""

from __future__ import annotations

from worker import project
from worker.database import migrations
from worker.database.client import Database
from worker.database.connection import (
    is_private,
    is_there,
    private_server,
    private_settings,
    resolve,
    state_dir,
)
from worker.errors import SettingsError

__all__ = [
    "begin_database",
    "is_private",
    "is_there",
    "open_database",
    "private_server",
    "private_settings",
    "require_queue",
    "resolve",
    "state_dir",
]

# Counting or moving millions of rows takes long, and a person has asked for it.
PATIENT_READ_SECONDS = 600.0


def open_database() -> Database:
    """Connect for a command that asks a queue or changes it; raises SettingsError if there is none.

    The schema is checked, and large reads have time.
    """
    require_queue()
    return begin_database()


def begin_database() -> Database:
    """Connect for a command that may be a queue's first: it makes the private server if need be."""
    db = Database(resolve(), read_timeout_seconds=PATIENT_READ_SECONDS)
    migrations.ensure(db)
    return db


def require_queue() -> None:
    """Refuse a folder that is no project: whoever asks about a queue there means another one."""
    if not (is_there() or project.is_project()):
        raise SettingsError(
            f"there is no queue here: {project.project_dir()} is no project, and DATABASE_URL is "
            f"not set; name the project with --project DIR, or begin one: launcher.py init, "
            f"or launcher.py enqueue"
        )
