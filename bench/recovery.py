"""`python -m bench.recovery`: from kill -9 of a worker to its job running again, on a page.

A real run with two workers whose browsers are up. A job begins and stays; its worker is killed; the
clock stops when the job's task begins for the second time.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

from bench import harness, launched, recovery_task
from bench.harness import Found, alone, below
from bench.server import Bench, private_bench
from worker.database.client import Database

WORKERS = 2
DEADLINE_SECONDS = 60.0
POLL_SECONDS = 0.02
KILLS, TINY_KILLS = 5, 1

Line = tuple[int, int, int, float]


class Ward:
    """A run at work, and what its jobs write down when they begin."""

    def __init__(self, bench: Bench, db: Database) -> None:
        self._db = db
        self._ledger = bench.folder / "ledger"
        self._ledger.touch()
        self._next = 0
        variables = {recovery_task.VARIABLE: str(self._ledger)}
        self.launcher = subprocess.Popen(
            launched.command(bench, WORKERS, str(Path(recovery_task.__file__)), "--follow"),
            env=launched.environment(bench, **variables),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def kill(self) -> float:
        """Kill the worker of a job that has begun; return the seconds until it begins again."""
        self._warm_up()
        job = self._add(stays=True)
        _, _, pid, _ = self._wait_for(job, 1)
        killed = time.monotonic()
        os.kill(pid, signal.SIGKILL)
        return self._wait_for(job, 2)[3] - killed

    def _warm_up(self) -> None:
        """Have jobs done until every worker has had one, and so has a browser."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        at_work: set[int] = set()
        first = self._next
        while len(at_work) < WORKERS and time.monotonic() < deadline:
            for job in [self._add(stays=False) for _ in range(WORKERS)]:
                self._wait_for(job, 1)
            at_work = {pid for job, _, pid, _ in self._lines() if job > first and _lives(pid)}

    def _add(self, *, stays: bool) -> int:
        self._next += 1
        payload = f'{{"stays": {"true" if stays else "false"}}}'
        self._db.run_statement(
            f"INSERT INTO work_queue (id, task, payload) VALUES ({self._next}, 'stay', '{payload}')"
        )
        return self._next

    def _wait_for(self, job: int, attempt: int) -> Line:
        deadline = time.monotonic() + DEADLINE_SECONDS
        while time.monotonic() < deadline:
            for line in self._lines():
                if line[:2] == (job, attempt):
                    return line
            if self.launcher.poll() is not None:
                raise RuntimeError(f"the launcher ended, with {self.launcher.returncode}")
            time.sleep(POLL_SECONDS)
        raise RuntimeError(
            f"attempt {attempt} of job {job} has not begun in {DEADLINE_SECONDS:g} s"
        )

    def _lines(self) -> list[Line]:
        found = []
        for line in self._ledger.read_text(encoding="ascii").splitlines():
            job, attempt, pid, moment = line.split()
            found.append((int(job), int(attempt), int(pid), float(moment)))
        return found


def _lives(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def measure(bench: Bench, options: argparse.Namespace) -> Found:
    """Kill a worker several times."""
    with closing(Database(bench.database)) as db:
        ward = Ward(bench, db)
        try:
            times = []
            for _ in range(TINY_KILLS if options.tiny else KILLS):
                times.append(ward.kill())
                harness.say(f"runs again after {times[-1]:.2f} s")
        finally:
            launched.stop(ward.launcher)
    row = alone("job running again after kill -9 of its worker", times, below(1.5, "s"), unit="s")
    return Found([row], facts={"server": bench.version})


def main() -> int:
    """Measure on one server; return the exit code."""
    options = harness.read(harness.parser("bench.recovery", __doc__, seconds=30))
    with private_bench() as bench:
        return harness.tell(measure(bench, options), options)


if __name__ == "__main__":
    sys.exit(main())
