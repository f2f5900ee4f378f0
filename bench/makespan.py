"""`python -m bench.makespan`: how long a queue takes when its work is laid out badly.

All ids even, one slot ten times slower, three hosts that join one after another: each is compared
with work that is shared perfectly by those who are there. The pools are real; the jobs sleep.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench import harness, launched, makespan_task
from bench.harness import Found, Row, at_most
from bench.numbers import have_numbers
from bench.server import Bench, private_bench
from worker.database.client import Database

WORKERS, HOSTS = 6, 3
JOBS, TINY_JOBS, SECONDS = 960, 60, 0.05
SLOWER, JOIN_SECONDS = 10.0, 1.5
DEADLINE_SECONDS = 180.0
WANTED = at_most(1.1)
BALANCED = "all ids"


@dataclass(frozen=True, slots=True)
class Layout:
    """How the ids lie, how much slower one worker is, and how many hosts share the slots."""

    name: str
    step: int = 1
    slower: float = 1.0
    hosts: int = 1


LAYOUTS = (
    Layout(BALANCED),
    Layout("all ids even", step=2),
    Layout("one slot ten times slower", slower=SLOWER),
    Layout(f"{HOSTS} hosts, joining late", hosts=HOSTS),
)


def perfect(work: float, workers: Sequence[tuple[float, float]]) -> float:
    """Say when work is done that all share perfectly from when they join: (when, speed) each."""
    now, done, speed = 0.0, 0.0, 0.0
    for joins, more in sorted(workers):
        if speed and done + speed * (joins - now) >= work:
            break
        done += speed * (joins - now)
        now, speed = joins, speed + more
    return now + (work - done) / speed


class Yard:
    """A queue that is laid out again and again, and the pools that work on it."""

    def __init__(self, bench: Bench, db: Database, jobs: int) -> None:
        self._bench = bench
        self._db = db
        self._jobs = jobs
        have_numbers(db, jobs)
        self._slow = bench.folder / "slow"
        # Seconds of work of one worker, as they were in the balanced layout that was run last.
        self._work = 0.0

    def run(self, layout: Layout) -> tuple[float, float]:
        """Drain one layout; return the seconds it took, and how long perfect sharing would."""
        self._db.run_statement("TRUNCATE work_queue")
        self._db.run_statement(
            "INSERT INTO work_queue (id, task, payload) "
            f"""SELECT {layout.step} * (n + 1), 'nap', '{{"seconds": {SECONDS}}}' """
            f"FROM bench_numbers WHERE n < {self._jobs} ORDER BY n"
        )
        self._drain(layout)
        row = self._db.run_statement(
            "SELECT TIMESTAMPDIFF(MICROSECOND, MIN(started_at), MAX(finished_at)) / 1000000 "
            "AS took, SUM(status = 'done') AS done FROM work_queue"
        )[0]
        if int(row["done"]) != self._jobs:
            raise RuntimeError(f"{layout.name}: {row['done']} of {self._jobs} jobs are done")
        took, workers = float(row["took"]), self._joined(layout)
        if layout.name == BALANCED:
            self._work = sum(took - began for began, _ in workers)
        return took, perfect(self._work, workers)

    def _drain(self, layout: Layout) -> None:
        each = WORKERS // layout.hosts
        pools: list[subprocess.Popen[bytes]] = []
        self._slow.unlink(missing_ok=True)
        try:
            for host in range(layout.hosts):
                if host:
                    time.sleep(JOIN_SECONDS)
                flags = ["--total", str(WORKERS), "--offset", str(host * each), "--quiet"]
                flags += ["--if-locked", "ignore"]
                variables = {
                    makespan_task.SLOWER_VARIABLE: str(layout.slower),
                    makespan_task.FILE_VARIABLE: str(self._slow),
                }
                command = launched.command(
                    self._bench, each, str(Path(makespan_task.__file__)), *flags
                )
                environment = launched.environment(self._bench, **variables)
                pools.append(subprocess.Popen(command, env=environment))
            for pool in pools:
                pool.wait(DEADLINE_SECONDS)
        finally:
            for pool in pools:
                launched.stop(pool)

    def _joined(self, layout: Layout) -> list[tuple[float, float]]:
        """Tell from the rows when each worker began, after the first, and how fast it is."""
        slow = int(self._slow.read_text(encoding="ascii")) if layout.slower > 1 else None
        rows = self._db.run_statement(
            "SELECT w.pid, TIMESTAMPDIFF(MICROSECOND, (SELECT MIN(started_at) FROM work_queue), "
            "MIN(q.started_at)) / 1000000 AS began "
            "FROM work_queue q JOIN workers w ON w.id = q.incarnation GROUP BY w.pid"
        )
        return [
            (float(row["began"]), 1 / layout.slower if row["pid"] == slow else 1.0) for row in rows
        ]


def measure(bench: Bench, options: argparse.Namespace) -> Found:
    """Let the layouts take turns."""
    found = Found(facts={"server": bench.version})
    ideal: dict[str, list[float]] = {layout.name: [] for layout in LAYOUTS}
    with closing(Database(bench.database)) as db:
        yard = Yard(bench, db, TINY_JOBS if options.tiny else JOBS)

        def seconds(layout: Layout) -> float:
            took, perfectly = yard.run(layout)
            ideal[layout.name].append(perfectly)
            return took

        sides = {layout.name: partial(seconds, layout) for layout in LAYOUTS}
        took = harness.take_turns(sides, seconds=options.seconds, least=min(options.least, 2))
    found.rows = [_row(layout.name, took[layout.name], ideal) for layout in LAYOUTS[1:]]
    return found


def _row(name: str, took: list[float], ideal: dict[str, list[float]]) -> Row:
    return harness.compared(
        f"makespan, {name}", "perfectly balanced", took, ideal[name], WANTED, unit="s"
    )


def main() -> int:
    """Measure on one server; return the exit code."""
    options = harness.read(harness.parser("bench.makespan", __doc__, seconds=110))
    with private_bench() as bench:
        return harness.tell(measure(bench, options), options)


if __name__ == "__main__":
    sys.exit(main())
