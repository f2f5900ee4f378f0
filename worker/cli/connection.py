"""The database of a command: found by its settings, its schema checked, with a long timeout."""

from __future__ import annotations

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

__all__ = [
    "is_private",
    "is_there",
    "open_database",
    "private_server",
    "private_settings",
    "resolve",
    "state_dir",
]

# Counting or moving millions of rows takes long, and a person has asked for it.
PATIENT_READ_SECONDS = 600.0


def open_database() -> Database:
    """Connect for a command: the schema is checked, and large reads have time."""
    db = Database(resolve(), read_timeout_seconds=PATIENT_READ_SECONDS)
    migrations.ensure(db)
    return db
