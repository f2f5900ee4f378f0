"""`python -m bench.upkeep`: processor time of a pool that waits for work in an empty queue.

Launcher and heart with six idle workers (`--follow`), and the server's share, in % of one core. How
much launcher and heart need with busy workers is in `bench.memory`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

from bench import harness, launched
from bench.harness import Found, alone, below
from bench.idle import cpu_seconds
from bench.jobs import SLOTS
from bench.server import Bench, private_bench
from worker.database.client import Database
from worker.database.private_server import PrivateServer
from worker.system.process_tree import descendants

START_SECONDS, SETTLE_SECONDS, TINY_SETTLE_SECONDS = 60.0, 10.0, 1.0
# Time is counted in hundredths: half a percent of a core is 15 of them.
WATCH_SECONDS, TINY_WATCH_SECONDS = 30.0, 2.0


class Watch:
    """Reads what processes use, of a run and of its server."""

    def __init__(self, bench: Bench, db: Database, options: argparse.Namespace) -> None:
        server = PrivateServer(bench.folder / "mysql").pid()
        assert server is not None
        self._bench = bench
        self._db = db
        self._server = server
        self._settle = TINY_SETTLE_SECONDS if options.tiny else SETTLE_SECONDS
        self._seconds = TINY_WATCH_SECONDS if options.tiny else WATCH_SECONDS

    def idle(self) -> tuple[float, float]:
        """Watch launcher and heart, and the server, while there is nothing to do."""
        with self._run("--follow") as own:
            began = time.monotonic()
            before, server = cpu_seconds(own), cpu_seconds([self._server])
            time.sleep(self._seconds)
            took = time.monotonic() - began
            return (
                100 * (cpu_seconds(own) - before) / took,
                100 * (cpu_seconds([self._server]) - server) / took,
            )

    @contextmanager
    def _run(self, *flags: str) -> Iterator[list[int]]:
        """Have a run at work; gives the processes that are neither workers nor browsers."""
        launcher = subprocess.Popen(
            launched.command(self._bench, SLOTS, "bench.pages_task", *flags),
            env=launched.environment(self._bench),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            deadline = time.monotonic() + START_SECONDS
            while len(workers := launched.living_workers(self._db, launcher)) < SLOTS:
                if launcher.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError("the launcher has no workers")
                time.sleep(0.1)
            time.sleep(self._settle)
            children = {s.pid for s in descendants(launcher.pid) if s.parent == launcher.pid}
            yield [launcher.pid, *(children - set(workers.values()))]
        finally:
            launched.stop(launcher)


def measure(bench: Bench, options: argparse.Namespace) -> Found:
    """Watch an idle pool."""
    with closing(Database(bench.database)) as db:
        own, server = Watch(bench, db, options).idle()
    name = "MariaDB" if "MariaDB" in bench.version else "MySQL"
    rows = [
        alone("CPU of launcher and heart, idle --follow", [own], below(0.5, "%"), unit="%"),
        alone(f"CPU of the server, idle pool, {name}", [server], below(1, "%"), unit="%"),
    ]
    return Found(rows[1:] if options.only_server else rows, facts={"server": bench.version})


def main() -> int:
    """Measure on one server; return the exit code."""
    parser = harness.parser("bench.upkeep", __doc__, seconds=0)
    parser.add_argument("--only-server", action="store_true", help="the server's share alone")
    options = harness.read(parser)
    with private_bench() as bench:
        return harness.tell(measure(bench, options), options)


if __name__ == "__main__":
    sys.exit(main())
