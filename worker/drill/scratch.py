"""Where a drill takes place: a folder, a server, a queue and a demo site, all of them its own.

The user's database is never touched. At the end nothing is left, nor of a drill that was killed.
"""

from __future__ import annotations

import shutil
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from worker.database import migrations
from worker.database.client import Database
from worker.database.private_server import PrivateServer
from worker.database_settings import DatabaseSettings
from worker.drill import finish_ledger
from worker.drill.proxy import Proxy
from worker.drill.world import World, abandoned_folders, create_users, demo_site, new_folder


@dataclass(frozen=True, slots=True)
class Scratch(World):
    """A world with one server, and a proxy before it."""

    server: PrivateServer
    proxy: Proxy

    @property
    def database(self) -> DatabaseSettings:
        return DatabaseSettings(unix_socket=str(self.server.socket_path))

    @property
    def port(self) -> int:
        return self.proxy.port

    def pids(self) -> set[int]:
        return {self.server.pid() or 0, self.site_pid}

    def revive(self) -> None:
        self.server.start()


@contextmanager
def scratch_world(state_dir: Path, *, keep: bool = False) -> Iterator[Scratch]:
    """Set a world up, and take it down again however the drill ends."""
    remove_abandoned(state_dir / "drill")
    folder = new_folder(state_dir)
    server = PrivateServer(folder / "mysql", port=_free_port())
    try:
        server.start()
        version = _create_queue(server)
        assert server.port is not None
        with closing(Proxy(server.port)) as proxy, demo_site() as (site_url, site_pid):
            yield Scratch(folder, site_url, site_pid, version, server, proxy)
    finally:
        _remove(folder, server, keep=keep)


def remove_abandoned(parent: Path) -> None:
    """Remove what drills that were killed themselves have left behind."""
    for folder in abandoned_folders(parent):
        _remove(folder, PrivateServer(folder / "mysql"), keep=False)


def _remove(folder: Path, server: PrivateServer, *, keep: bool) -> None:
    server.stop()
    if server.socket_path.parent != server.folder:
        shutil.rmtree(server.socket_path.parent, ignore_errors=True)
    if not keep:
        shutil.rmtree(folder, ignore_errors=True)


def _create_queue(server: PrivateServer) -> str:
    """Make the database and a user who reaches it over TCP without a password."""
    settings = DatabaseSettings(unix_socket=str(server.socket_path))
    with closing(Database(replace(settings, database=""))) as db:
        create_users(db, settings.database)
        version = str(db.run_statement("SELECT VERSION() AS version")[0]["version"])
    with closing(Database(settings)) as db:
        migrations.migrate(db)
        finish_ledger.install(db)
    return version if "MariaDB" in version else f"MySQL {version}"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
