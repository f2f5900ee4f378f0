"""`python -m bench.failures`: failures per second with evidence off, against finishes per second.

What is left of a failure without its files is the bookkeeping: its history, its group, its row and
its line in the log. The tasks of both sides do nothing but end.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
from contextlib import closing
from dataclasses import dataclass, fields
from functools import partial

from bench import harness
from bench.course import ROUND_SECONDS
from bench.harness import Found, at_least
from bench.jobs import SLOTS
from bench.numbers import have_numbers
from bench.pool import Pool
from bench.race import Work, race
from bench.server import Bench, private_bench
from bench.turns import take_turns
from worker.browser.failed_attempt import Failure
from worker.database.client import Database
from worker.execution.failure_report import Reporter
from worker.execution.worker_loop import WorkerLoop
from worker.models import Claim, Ending

READ_SECONDS = 120.0
WARM_UP, TINY, MOST = 50, 10, 10_000
# The task of each side, and how its jobs end.
SIDES = {"failures": ("fails", "error"), "finishes": ("noop", "done")}


@dataclass(frozen=True, slots=True)
class WithoutFiles(Reporter):
    """Knows all that a report of a failure says, and writes none of it."""

    def _kept(self, claim: Claim, ending: Ending, failure: Failure) -> Ending:
        return ending


def without_files(loop: WorkerLoop) -> None:
    """Turn a worker's evidence off."""
    executor = loop._executor  # noqa: SLF001
    reporter = executor._reporter  # noqa: SLF001
    known = {field.name: getattr(reporter, field.name) for field in fields(reporter)}
    executor._reporter = WithoutFiles(**known)  # noqa: SLF001


def measure(bench: Bench, options: argparse.Namespace) -> Found:
    """Let both sides take turns."""
    with closing(Database(bench.database, read_timeout_seconds=READ_SECONDS)) as db:
        jobs = dict.fromkeys(SIDES, TINY if options.tiny else WARM_UP)
        have_numbers(db, SLOTS * MOST)
        sides = {name: partial(_run, bench, db, name, jobs) for name in SIDES}
        if not options.tiny:
            for name, run in sides.items():
                jobs[name] = min(int(run() * ROUND_SECONDS / SLOTS), MOST)
        rates = take_turns(sides, seconds=options.seconds, least=options.least)
    row = rates.row(
        f"failures/s, evidence off, {SLOTS} workers", "done/s", "failures", "finishes",
        at_least(0.6), unit="jobs/s",
    )  # fmt: skip
    return Found([row], facts={"server": bench.version})


def _run(bench: Bench, db: Database, name: str, jobs: dict[str, int]) -> float:
    task, status = SIDES[name]
    for table in ("work_queue", "job_attempts", "failure_groups"):
        db.run_statement(f"TRUNCATE {table}")
    db.run_statement(
        "INSERT INTO work_queue (id, task, payload) "
        f"""SELECT n + {SLOTS}, '{task}', CONCAT('{{"url": "https://example.com/', n, '"}}') """
        f"FROM bench_numbers WHERE n < {SLOTS * jobs[name]} ORDER BY n"
    )
    pool = Pool(bench, SLOTS)
    with pool.beating():
        seconds = race([partial(_worker, pool, slot, jobs[name]) for slot in range(SLOTS)])
    ended = db.run_statement(f"SELECT COUNT(*) AS n FROM work_queue WHERE status = '{status}'")
    if int(ended[0]["n"]) != SLOTS * jobs[name]:
        raise RuntimeError(f"{ended[0]['n']} of {SLOTS * jobs[name]} jobs are {status}")
    return SLOTS * jobs[name] / seconds


def _worker(pool: Pool, slot: int, jobs: int) -> Work:
    # A line for each failure is part of it; the launcher's terminal is not.
    logging.basicConfig(stream=open(os.devnull, "w"), force=True)  # noqa: PTH123, SIM115
    return pool.worker(slot, jobs, prepare=without_files)


def main() -> int:
    """Measure on one server; return the exit code."""
    options = harness.read(harness.parser("bench.failures", __doc__, seconds=30))
    with private_bench() as bench:
        return harness.tell(measure(bench, options), options)


if __name__ == "__main__":
    sys.exit(main())
