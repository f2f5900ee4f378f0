"""`python -m bench.ledger`: kill workers midway, then count every job outside the queue.

The real launcher drains the queue with real workers; two of them are killed with SIGKILL. Exit code
1 when a job is lost, finished twice, or executed again without its worker having been killed.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

from bench import launched, ledger_task
from bench.audit import audit, count_ends
from bench.server import Bench, private_bench
from worker.database.client import Database
from worker.drill import finish_ledger
from worker.intake.bulk import add_many

POLL_SECONDS = 0.02
DEADLINE_SECONDS = 100.0


class LedgerRun:
    """One launcher at work on a private queue, and the hand that kills its workers."""

    def __init__(self, bench: Bench, db: Database, workers: int) -> None:
        self.ledger = bench.folder / "ledger"
        self.log = bench.folder / "launcher.log"
        self._bench = bench
        self._db = db
        self._workers = workers
        self._deadline = time.monotonic() + DEADLINE_SECONDS

    @contextmanager
    def launched(self) -> Iterator[subprocess.Popen[bytes]]:
        """Start the launcher; whatever happens, it has ended afterwards, and its children too."""
        with self.log.open("wb") as log:
            launcher = subprocess.Popen(
                launched.command(self._bench, self._workers, str(ledger_task.__file__)),
                env=launched.environment(
                    self._bench, **{ledger_task.LEDGER_VARIABLE: str(self.ledger)}
                ),
                stderr=log,
            )
        try:
            yield launcher
        finally:
            launched.stop(launcher)

    def wait_for_ends(self, launcher: subprocess.Popen[bytes], ends: int) -> None:
        """Wait until so many executions are in the ledger."""
        while count_ends(self.ledger) < ends:
            self._wait_a_moment()
            if launcher.poll() is not None:
                raise RuntimeError(f"the launcher ended too early, with {launcher.returncode}")

    def wait_for_exit(self, launcher: subprocess.Popen[bytes]) -> int:
        """Wait until the queue is drained; return the launcher's exit code."""
        while launcher.poll() is None:
            self._wait_a_moment()
        return int(launcher.returncode)

    def kill_a_worker(self, launcher: subprocess.Popen[bytes]) -> int:
        """Kill the worker that has lived longest; return its incarnation."""
        incarnation, pid = min(launched.living_workers(self._db, launcher).items())
        os.kill(pid, signal.SIGKILL)
        return incarnation

    def _wait_a_moment(self) -> None:
        if time.monotonic() > self._deadline:
            raise RuntimeError(f"the queue was not drained in {DEADLINE_SECONDS:g} s")
        time.sleep(POLL_SECONDS)


def run(jobs: int, workers: int) -> int:
    """Drain so many jobs with kills after one third and two thirds; return the exit code."""
    with private_bench() as bench, closing(Database(bench.database)) as db:
        finish_ledger.install(db)
        add_many(db, "ledgered", [{} for _ in range(jobs)])
        course = LedgerRun(bench, db, workers)
        killed: set[int] = set()
        began = time.monotonic()
        try:
            with course.launched() as launcher:
                for third in (1, 2):
                    course.wait_for_ends(launcher, jobs * third // 3)
                    killed.add(course.kill_a_worker(launcher))
                exit_code = course.wait_for_exit(launcher)
        except RuntimeError:
            print(*launched.tail(course.log), sep="\n", file=sys.stderr)
            raise
        found = audit(db, course.ledger, killed)
        print(f"{bench.version}, {workers} workers, {len(killed)} of them killed midway")
        print(f"drained in          {time.monotonic() - began:>7.1f} s, exit code {exit_code}")
        print(found.render())
        return 0 if found.is_clean and found.jobs == jobs and exit_code == 0 else 1


def main() -> int:
    """Read the options and run."""
    parser = argparse.ArgumentParser(prog="bench.ledger", description=__doc__)
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=6)
    options = parser.parse_args()
    return run(options.jobs, options.workers)


if __name__ == "__main__":
    sys.exit(main())
