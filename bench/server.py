"""A private server for one measurement, in a temporary folder that is gone afterwards.

It has the options of every private server, durable commits among them: nothing here is faster than
what a user gets. NIGHTSHIFT_MYSQLD says which program it runs.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from worker.database import migrations
from worker.database.client import Database
from worker.database.private_server import PrivateServer
from worker.database_settings import DatabaseSettings

# Of its folder's name; the process that has it comes next, so that others can clean up after it.
PREFIX = "nightshift-bench-"


@dataclass(frozen=True, slots=True)
class Bench:
    """Where a measurement takes place: a folder of its own and an empty queue."""

    folder: Path
    database: DatabaseSettings
    version: str


@contextmanager
def private_bench(*extra_args: str) -> Iterator[Bench]:
    """Start a server with an empty queue; stop it and remove everything at the end."""
    with tempfile.TemporaryDirectory(prefix=f"{PREFIX}{os.getpid()}-") as name:
        folder = Path(name)
        server = PrivateServer(folder / "mysql", extra_args=extra_args)
        try:
            server.start()
            settings = DatabaseSettings(unix_socket=str(server.socket_path))
            yield Bench(folder, settings, create_queue(settings))
        finally:
            server.stop()


def create_queue(settings: DatabaseSettings) -> str:
    """Make a database with an empty queue; return the version of its server."""
    with closing(Database(replace(settings, database=""))) as db:
        db.run_statement(f"CREATE DATABASE `{settings.database}` CHARACTER SET utf8mb4")
        version = str(db.run_statement("SELECT VERSION() AS version")[0]["version"])
    with closing(Database(settings)) as db:
        migrations.migrate(db)
    return version if "MariaDB" in version else f"{version} MySQL"
