"""Which database is meant: the one in the environment, or the private server, started on demand."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from worker import migrations
from worker.database import Database
from worker.local_server import LocalServer
from worker.settings import PROJECT_ROOT, DatabaseSettings, database_settings
from worker.supervisor.child import call_in_child

# Counting or moving millions of rows takes its time when a person has asked for it.
PATIENT_READ_SECONDS = 600.0


def state_dir() -> Path:
    """Where Nightshift keeps what is neither code nor evidence."""
    return Path(os.environ.get("NIGHTSHIFT_STATE_DIR") or PROJECT_ROOT / ".local").absolute()


def private_server() -> LocalServer:
    """The embedded server of this checkout."""
    return LocalServer(state_dir() / "mysql")


def is_private() -> bool:
    """Whether no database is configured and the embedded one is meant."""
    return database_settings(os.environ) is None


def resolve() -> DatabaseSettings:
    """Return where the queue lives, starting the private server if that is it."""
    configured = database_settings(os.environ)
    if configured is not None:
        return configured
    # In a child, so that the server is nobody's child: it outlives the launcher that started it.
    call_in_child(private_server().start)
    settings = DatabaseSettings(unix_socket=str(private_server().socket_path))
    call_in_child(_create_database, settings)
    return settings


def open_database() -> Database:
    """Connect for a command: schema checked, patient enough for large reads."""
    db = Database(resolve(), read_timeout_seconds=PATIENT_READ_SECONDS)
    migrations.ensure(db)
    return db


def _create_database(settings: DatabaseSettings) -> None:
    with closing(Database(replace(settings, database=""))) as db:
        db.run_statement(
            f"CREATE DATABASE IF NOT EXISTS `{settings.database}` "
            f"CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
        )
