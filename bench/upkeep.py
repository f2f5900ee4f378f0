"""`python -m bench.upkeep`: processor time of the pool's own processes, busy and idle.

Launcher and heart with six workers that do jobs of 50 ms all the time, then with six that wait for
work in an empty queue (`--follow`), where the server's share is told too. In % of one core.
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
from bench.numbers import have_numbers
from bench.server import Bench, private_bench
from worker.database.client import Database
from worker.database.private_server import PrivateServer
from worker.system.process_tree import descendants

JOB_SECONDS = 0.05
START_SECONDS, SETTLE_SECONDS, TINY_SETTLE_SECONDS = 60.0, 5.0, 1.0
WATCH_SECONDS, TINY_WATCH_SECONDS = 8.0, 2.0


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
        self._rounds = options.least

    def busy(self) -> list[float]:
        """Watch launcher and heart while there is work enough."""
        most = self._settle + self._seconds * (self._rounds + 1)
        jobs = int(1.2 * SLOTS * most / JOB_SECONDS)
        have_numbers(self._db, jobs)
        self._db.run_statement(
            "INSERT INTO work_queue (task, payload) "
            f"""SELECT 'nap', '{{"seconds": {JOB_SECONDS}}}' FROM bench_numbers WHERE n < {jobs}"""
        )
        with self._run() as own:
            return [each[0] for each in self._shares(own)]

    def idle(self) -> tuple[list[float], list[float]]:
        """Watch launcher and heart, and the server, while there is nothing to do."""
        self._db.run_statement("TRUNCATE work_queue")
        with self._run("--follow") as own:
            shares = list(self._shares(own))
        return [each[0] for each in shares], [each[1] for each in shares]

    @contextmanager
    def _run(self, *flags: str) -> Iterator[list[int]]:
        """Have a run at work; gives the processes that are neither workers nor browsers."""
        launcher = subprocess.Popen(
            launched.command(self._bench, SLOTS, "bench.id_steps_task", *flags),
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

    def _shares(self, own: list[int]) -> Iterator[tuple[float, float]]:
        for _ in range(self._rounds):
            began = time.monotonic()
            before, server = cpu_seconds(own), cpu_seconds([self._server])
            time.sleep(self._seconds)
            took = time.monotonic() - began
            yield (
                100 * (cpu_seconds(own) - before) / took,
                100 * (cpu_seconds([self._server]) - server) / took,
            )


def measure(bench: Bench, options: argparse.Namespace) -> Found:
    """Watch a busy pool, then an idle one."""
    with closing(Database(bench.database)) as db:
        watch = Watch(bench, db, options)
        busy = watch.busy()
        idle, server = watch.idle()
    workers = f"{SLOTS} busy workers, jobs of {1000 * JOB_SECONDS:g} ms"
    rows = [
        alone(f"CPU of launcher and heart, {workers}", busy, below(2, "%"), unit="%"),
        alone("CPU of launcher and heart, idle --follow", idle, below(0.5, "%"), unit="%"),
        alone("CPU of the server, idle pool", server, below(1, "%"), unit="%"),
    ]
    return Found(rows, facts={"server": bench.version})


def main() -> int:
    """Measure on one server; return the exit code."""
    options = harness.read(harness.parser("bench.upkeep", __doc__, seconds=80))
    with private_bench() as bench:
        return harness.tell(measure(bench, options), options)


if __name__ == "__main__":
    sys.exit(main())
