"""`python -m bench.makespan`: how long a queue takes when its work is laid out badly.

All ids even, ids in steps as of a cluster, one slot ten times slower, three hosts that join one
after another: each is compared with work that is shared perfectly by all workers that were there,
whether they got a job or not. The pools are real; the jobs sleep.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path

from bench import harness, launched, makespan_task
from bench.harness import Found, Row, at_most
from bench.numbers import have_numbers
from bench.server import Bench, private_bench
from bench.turns import Figures, take_turns
from worker.database.client import Database

WORKERS, HOSTS = 6, 3
JOBS, TINY_JOBS, SECONDS = 720, 60, 0.05
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
    flags: tuple[str, ...] = ()


LAYOUTS = (
    Layout(BALANCED),
    Layout("all ids even", step=2),
    Layout("one slot ten times slower", slower=SLOWER),
    Layout(f"{HOSTS} hosts, joining late", hosts=HOSTS),
    # As with three members of Galera. The 7 of MySQL's groups has a remainder of 1 by six.
    Layout("ids grow by 3", step=3),
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
        began = self._db.run_statement("SELECT UTC_TIMESTAMP(6) AS now")[0]["now"]
        self._drain(layout)
        row = self._db.run_statement(
            "SELECT MAX(finished_at) AS ended, SUM(status = 'done') AS done FROM work_queue"
        )[0]
        if int(row["done"]) != self._jobs:
            raise RuntimeError(f"{layout.name}: {row['done']} of {self._jobs} jobs are done")
        workers, first = self._joined(layout, began)
        took = (row["ended"] - first).total_seconds()
        if layout.name == BALANCED:
            self._work = sum(took - joins for joins, _ in workers)
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
                flags += ["--if-locked", "ignore", *layout.flags]
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

    def _joined(
        self, layout: Layout, since: datetime
    ) -> tuple[list[tuple[float, float]], datetime]:
        """Tell when each worker was there, after the first, and how fast it is; and the first.

        All workers count that a run has started since then, also one that never got a job.
        """
        slow = int(self._slow.read_text(encoding="ascii")) if layout.slower > 1 else None
        rows = self._db.run_statement(
            "SELECT pid, MIN(started_at) AS began FROM workers WHERE started_at >= %(since)s "
            "GROUP BY run_id, slot, pid",
            {"since": since},
        )
        if len(rows) != WORKERS:
            raise RuntimeError(f"{layout.name}: there were {len(rows)} workers, not {WORKERS}")
        first: datetime = min(row["began"] for row in rows)
        workers = [
            (
                (row["began"] - first).total_seconds(),
                1 / layout.slower if row["pid"] == slow else 1.0,
            )
            for row in rows
        ]
        return workers, first


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
        took = take_turns(sides, seconds=options.seconds, least=min(options.least, 2))
    if BALANCED in took.lost:
        raise RuntimeError(took.lost[BALANCED])
    found.rows = [_row(layout.name, took, ideal[layout.name]) for layout in LAYOUTS[1:]]
    return found


def _row(name: str, took: Figures, ideal: list[float]) -> Row:
    what, against = f"makespan, {name}", "perfectly balanced"
    if name in took.lost:
        return harness.missing(what, against, WANTED, took.lost[name])
    return harness.compared(what, against, took[name], ideal, WANTED, unit="s")


def main() -> int:
    """Measure on one server; return the exit code."""
    options = harness.read(harness.parser("bench.makespan", __doc__, seconds=110))
    with private_bench() as bench:
        return harness.tell(measure(bench, options), options)


if __name__ == "__main__":
    sys.exit(main())
