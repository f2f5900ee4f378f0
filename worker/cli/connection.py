"""The database of a command: the one that is meant, its schema checked, read with patience."""

from __future__ import annotations

from worker.database import migrations
from worker.database.client import Database
from worker.database.connection import (
    is_private,
    private_server,
    private_settings,
    resolve,
    state_dir,
)

__all__ = [
    "is_private",
    "open_database",
    "private_server",
    "private_settings",
    "resolve",
    "state_dir",
]

# Counting or moving millions of rows takes its time when a person has asked for it.
PATIENT_READ_SECONDS = 600.0


def open_database() -> Database:
    """Connect for a command: schema checked, patient enough for large reads."""
    db = Database(resolve(), read_timeout_seconds=PATIENT_READ_SECONDS)
    migrations.ensure(db)
    return db
