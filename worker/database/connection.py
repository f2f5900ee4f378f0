"""Find the database to use: the one in the settings, or the private server, started on demand."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace

from worker.database.client import Database
from worker.database.private_server import PrivateServer, PrivateSettings
from worker.database_settings import DatabaseSettings, database_settings
from worker.project import state_dir
from worker.system.fork import call_in_child

__all__ = [
    "is_private",
    "is_there",
    "private_server",
    "private_settings",
    "resolve",
    "state_dir",
]


def private_server(environ: Mapping[str, str] = os.environ) -> PrivateServer:
    """The embedded server of this project."""
    return PrivateServer(state_dir(environ) / "mysql")


def private_settings(environ: Mapping[str, str] = os.environ) -> PrivateSettings:
    """The queue on the embedded server, whether or not that runs."""
    server = private_server(environ)
    return PrivateSettings(unix_socket=str(server.socket_path), server_folder=server.folder)


def is_private() -> bool:
    """Whether no database is configured and the embedded one is meant."""
    return database_settings(os.environ) is None


def is_there() -> bool:
    """Whether there is a queue to ask without making one: configured, or private and begun."""
    return not is_private() or private_server().folder.exists()


def resolve(environ: Mapping[str, str] = os.environ) -> DatabaseSettings:
    """Return where the queue lives, starting the private server if that is it."""
    configured = database_settings(environ)
    if configured is not None:
        return configured
    # In a child, so that the server is nobody's child: it outlives the launcher that started it.
    call_in_child(private_server(environ).start)
    settings = private_settings(environ)
    call_in_child(_create_database, settings)
    return settings


def _create_database(settings: DatabaseSettings) -> None:
    with closing(Database(replace(settings, database=""))) as db:
        db.run_statement(
            f"CREATE DATABASE IF NOT EXISTS `{settings.database}` "
            f"CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
        )
