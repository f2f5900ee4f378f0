"""What every drill's world has: a folder, a queue behind a port, a demo site, and a ledger.

The user's database is never touched. At the end nothing is left, nor of a drill that was killed.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from worker.database.client import Database
from worker.database_settings import DatabaseSettings
from worker.drill import tasks
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
QUICK_SECONDS = (0.005, 0.05)


@dataclass(frozen=True, slots=True)
class World(ABC):
    """One drill's own world."""

    folder: Path
    site_url: str
    site_pid: int
    version: str

    @property
    @abstractmethod
    def database(self) -> DatabaseSettings:
        """The way to the queue that no fault but the server's own can block."""

    @property
    @abstractmethod
    def port(self) -> int:
        """Where launchers under test reach the queue, on 127.0.0.1."""

    @abstractmethod
    def pids(self) -> set[int]:
        """Name the processes that the world itself consists of."""

    @abstractmethod
    def revive(self) -> None:
        """Have the queue answer, whatever the last fault has done to it."""

    @property
    def inside(self) -> DatabaseSettings:
        """The way to the queue at a server itself, whatever stands before it."""
        return self.database

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

    def environment(self, state_dir: Path) -> dict[str, str]:
        """What a launcher under test knows: this world, by way of the proxy, and no other."""
        private = ("NIGHTSHIFT_", "MYSQL_", "DATABASE_URL")
        kept = {k: v for k, v in os.environ.items() if not k.startswith(private)}
        if browser := os.environ.get("NIGHTSHIFT_BROWSER"):
            kept["NIGHTSHIFT_BROWSER"] = browser
        return kept | {
            "DATABASE_URL": f"mysql://{USER}@127.0.0.1:{self.port}/{self.database.database}",
            "NIGHTSHIFT_ENV_FILE": os.devnull,
            "NIGHTSHIFT_STATE_DIR": str(state_dir),
            "NIGHTSHIFT_ERRORS_DIR": str(self.folder / "errors"),
            tasks.LEDGER_VARIABLE: str(self.ledger),
        }

    def enqueue(
        self, jobs: int, rng: random.Random, quick_seconds: tuple[float, float] = QUICK_SECONDS
    ) -> None:
        """Queue the drill's mixture of jobs, in an order that the seed decides."""
        with closing(Database(self.inside)) as db:
            mixture = _mixture(jobs, rng, self.site_url, quick_seconds)
            db.insert_many("enqueue_drill_jobs", mixture)


def new_folder(state_dir: Path) -> Path:
    """Make the folder of this process's drill."""
    here = identify(os.getpid())
    assert here is not None
    folder = state_dir / "drill" / f"{PREFIX}{here.pid}-{here.start_time}"
    folder.mkdir(parents=True)
    return folder


def abandoned_folders(parent: Path) -> Iterator[Path]:
    """List what drills that were killed themselves have left behind; their processes are ended."""
    for folder in parent.glob(f"{PREFIX}*"):
        pid, started = map(int, folder.name.removeprefix(PREFIX).split("-"))
        if not is_alive(ProcessId(pid, started)):
            _end_processes(folder)
            yield folder


def create_users(db: Database, name: str) -> None:
    """Make the queue's database and a user who reaches it over TCP without a password."""
    db.run_statement(f"CREATE DATABASE `{name}` CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")
    for host in HOSTS:
        db.run_statement(f"CREATE USER '{USER}'@'{host}'")
        db.run_statement(f"GRANT ALL ON `{name}`.* TO '{USER}'@'{host}'")


def _end_processes(folder: Path) -> None:
    """End a killed drill's pool: every process whose environment names its folder."""
    mark = os.fsencode(folder)
    for stat in all_processes():
        with suppress(OSError):
            if mark in Path(f"/proc/{stat.pid}/environ").read_bytes():
                kill(stat.id)


def _mixture(
    jobs: int, rng: random.Random, site_url: str, quick_seconds: tuple[float, float]
) -> list[dict[str, str]]:
    def share(percent: int) -> int:
        return max(1, jobs * percent // 100)

    made: list[tuple[str, JSON]] = [
        *((tasks.PAGE, {"url": f"{site_url}/products/{1 + n % 8}"}) for n in range(share(PAGES))),
        *((tasks.FAILING, {}) for _ in range(share(FAILURES))),
        *((tasks.RETRIED, {}) for _ in range(share(RETRIES))),
        *((tasks.CHATTY, {}) for _ in range(share(CHATTY))),
    ]
    made += [
        (tasks.QUICK, {"seconds": round(rng.uniform(*quick_seconds), 4)})
        for _ in range(jobs - len(made))
    ]
    rng.shuffle(made)
    return [{"task": name, "payload": json.dumps(payload)} for name, payload in made]


@contextmanager
def demo_site() -> Iterator[tuple[str, int]]:
    """Serve the demo site in a process of its own; give its address and its pid."""
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
