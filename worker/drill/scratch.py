"""Where a drill takes place: a folder, a server, a queue and a demo site, all of them its own.

The user's database is never touched. At the end nothing is left, nor of a drill that was killed.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from worker.database import migrations
from worker.database.client import Database
from worker.database.private_server import PrivateServer
from worker.database_settings import DatabaseSettings
from worker.drill import finish_ledger, tasks
from worker.drill.proxy import Proxy
from worker.errors import NightshiftError
from worker.installation import own_files
from worker.models import JSON
from worker.system.process_tree import ProcessId, all_processes, identify, is_alive, kill

USER = "drill"
# The server may or may not look up the name behind 127.0.0.1.
HOSTS = ("127.0.0.1", "localhost")
PREFIX = "drill-"
# How many of a hundred jobs open a page, fail for good, ask for a retry, and print a lot; the rest
# are quick.
PAGES, FAILURES, RETRIES, CHATTY = 5, 2, 3, 1


@dataclass(frozen=True, slots=True)
class Scratch:
    """One drill's own world."""

    folder: Path
    server: PrivateServer
    proxy: Proxy
    site_url: str
    site_pid: int
    version: str

    @property
    def state_dir(self) -> Path:
        return self.folder / "state"

    @property
    def elsewhere_dir(self) -> Path:
        """What another host would have of its own."""
        return self.folder / "elsewhere"

    @property
    def ledger(self) -> Path:
        return self.folder / "ledger"

    @property
    def log(self) -> Path:
        return self.folder / "launcher.log"

    @property
    def strikes(self) -> Path:
        return self.folder / "strikes.log"

    @property
    def database(self) -> DatabaseSettings:
        """The way to the queue that no fault but the server's own can block."""
        return DatabaseSettings(unix_socket=str(self.server.socket_path))

    def environment(self, state_dir: Path) -> dict[str, str]:
        """What a launcher under test knows: this world, by way of the proxy, and no other."""
        private = ("NIGHTSHIFT_", "MYSQL_", "DATABASE_URL")
        kept = {k: v for k, v in os.environ.items() if not k.startswith(private)}
        if browser := os.environ.get("NIGHTSHIFT_BROWSER"):
            kept["NIGHTSHIFT_BROWSER"] = browser
        return kept | {
            "DATABASE_URL": f"mysql://{USER}@127.0.0.1:{self.proxy.port}/{self.database.database}",
            "NIGHTSHIFT_ENV_FILE": os.devnull,
            "NIGHTSHIFT_STATE_DIR": str(state_dir),
            "NIGHTSHIFT_ERRORS_DIR": str(self.folder / "errors"),
            tasks.LEDGER_VARIABLE: str(self.ledger),
        }

    def enqueue(self, jobs: int, rng: random.Random) -> None:
        """Queue the drill's mixture of jobs, in an order that the seed decides."""
        with closing(Database(self.database)) as db:
            db.insert_many("enqueue_drill_jobs", _mixture(jobs, rng, self.site_url))


@contextmanager
def scratch_world(state_dir: Path, *, keep: bool = False) -> Iterator[Scratch]:
    """Set a world up, and take it down again however the drill ends."""
    parent = state_dir / "drill"
    remove_abandoned(parent)
    here = identify(os.getpid())
    assert here is not None
    folder = parent / f"{PREFIX}{here.pid}-{here.start_time}"
    folder.mkdir(parents=True)
    server = PrivateServer(folder / "mysql", port=_free_port())
    try:
        server.start()
        version = _create_queue(server)
        assert server.port is not None
        with closing(Proxy(server.port)) as proxy, _demo_site() as (site_url, site_pid):
            yield Scratch(folder, server, proxy, site_url, site_pid, version)
    finally:
        _remove(folder, server, keep=keep)


def remove_abandoned(parent: Path) -> None:
    """Remove what drills that were killed themselves have left behind."""
    for folder in parent.glob(f"{PREFIX}*"):
        pid, started = map(int, folder.name.removeprefix(PREFIX).split("-"))
        if not is_alive(ProcessId(pid, started)):
            _end_processes(folder)
            _remove(folder, PrivateServer(folder / "mysql"), keep=False)


def _end_processes(folder: Path) -> None:
    """End a killed drill's pool: every process whose environment names its folder."""
    mark = os.fsencode(folder)
    for stat in all_processes():
        with suppress(OSError):
            if mark in Path(f"/proc/{stat.pid}/environ").read_bytes():
                kill(stat.id)


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
        name = settings.database
        db.run_statement(f"CREATE DATABASE `{name}` CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")
        for host in HOSTS:
            db.run_statement(f"CREATE USER '{USER}'@'{host}'")
            db.run_statement(f"GRANT ALL ON `{name}`.* TO '{USER}'@'{host}'")
        version = str(db.run_statement("SELECT VERSION() AS version")[0]["version"])
    with closing(Database(settings)) as db:
        migrations.migrate(db)
        finish_ledger.install(db)
    return version if "MariaDB" in version else f"MySQL {version}"


def _mixture(jobs: int, rng: random.Random, site_url: str) -> list[dict[str, str]]:
    def share(percent: int) -> int:
        return max(1, jobs * percent // 100)

    made: list[tuple[str, JSON]] = [
        *((tasks.PAGE, {"url": f"{site_url}/products/{1 + n % 8}"}) for n in range(share(PAGES))),
        *((tasks.FAILING, {}) for _ in range(share(FAILURES))),
        *((tasks.RETRIED, {}) for _ in range(share(RETRIES))),
        *((tasks.CHATTY, {}) for _ in range(share(CHATTY))),
    ]
    made += [
        (tasks.QUICK, {"seconds": round(rng.uniform(0.005, 0.05), 4)})
        for _ in range(jobs - len(made))
    ]
    rng.shuffle(made)
    return [{"task": name, "payload": json.dumps(payload)} for name, payload in made]


@contextmanager
def _demo_site() -> Iterator[tuple[str, int]]:
    site = subprocess.Popen(
        [sys.executable, str(own_files() / "examples" / "demo_site"), "--exit-with-parent"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        text=True,
    )
    try:
        assert site.stdout is not None
        base_url = site.stdout.readline().strip()
        if not base_url:
            raise NightshiftError("the demo site did not start: python examples/demo_site says why")
        yield base_url, site.pid
    finally:
        site.terminate()
        site.wait(timeout=10)
        assert site.stdout is not None
        site.stdout.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
