"""`python -m bench.strangers`: what jobs of an unknown task cost that stand before all others.

Rounds with and without them alternate. The first look walks over them once, worker by worker: it is
timed apart, and so is the work behind it, as a share of what it is without them.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from contextlib import closing
from functools import partial

from bench.jobs import FILL_AT_ONCE, SLOTS, Jobs, count_done
from bench.pool import Pool
from bench.race import race
from bench.server import Bench, private_bench
from worker.database.client import Database
from worker.execution.stop_request import StopRequest

READ_SECONDS = 120.0
# Behind them the pool is to be as fast as without them, but for the noise.
THRESHOLD = 0.9


def put_before(db: Database, jobs: Jobs, strangers: int) -> None:
    """Lay out the round's jobs, and before them as many of a task that nobody has loaded."""
    jobs.lay_out(db)
    for start in range(-strangers, 0, FILL_AT_ONCE):
        ids = range(start, min(start + FILL_AT_ONCE, 0))
        rows = ", ".join(f"({job_id}, 'nobody knows it', '{{}}')" for job_id in ids)
        db.run_statement(f"INSERT INTO work_queue (id, task, payload) VALUES {rows}")


def looked(pool: Pool, slot: int) -> float:
    """Say how long one worker's first look takes."""
    loop = pool.loop(slot, StopRequest())
    began = time.monotonic()
    while not loop.candidates.has_next():
        # A look is broken off after half a second and goes on with the next one.
        pass
    return time.monotonic() - began


def measured(bench: Bench, db: Database, jobs: Jobs, strangers: int) -> tuple[float, float]:
    """Do a round; return the seconds of a worker's first look, and jobs per second behind it."""
    put_before(db, jobs, strangers)
    pool = Pool(bench, SLOTS)
    first = looked(pool, 0)
    with pool.beating():
        workers = [partial(pool.worker, slot, jobs.per_slot, True) for slot in jobs.slots]
        seconds = race(workers)
    done = count_done(db)
    if done != jobs.total:
        raise RuntimeError(f"{done} jobs are done, not {jobs.total}")
    return first, done / seconds


def main() -> int:
    """Measure; return the exit code."""
    parser = argparse.ArgumentParser(prog="bench.strangers", description=__doc__)
    parser.add_argument("--strangers", type=int, default=300_000)
    parser.add_argument("--jobs", type=int, default=700, help="jobs of each worker")
    parser.add_argument("--pairs", type=int, default=3)
    options = parser.parse_args()
    jobs, shares = Jobs(range(SLOTS), options.jobs, 0), []
    with private_bench() as bench, closing(_database(bench)) as db:
        jobs.store(db)
        for number in range(options.pairs):
            order = (0, options.strangers) if number % 2 else (options.strangers, 0)
            found = {count: measured(bench, db, jobs, count) for count in order}
            (alone, rate), (first, behind) = found[0], found[options.strangers]
            shares.append(behind / rate)
            print(
                f"pair {number + 1}: first look {first:.3f} s behind {options.strangers:,}, "
                f"{alone:.3f} s without; {behind:.0f} jobs/s and {rate:.0f}, share {shares[-1]:.2f}"
            )
    median = statistics.median(shares)
    print(f"{bench.version}: median share {median:.2f}, threshold {THRESHOLD}")
    return 0 if median >= THRESHOLD else 1


def _database(bench: Bench) -> Database:
    return Database(bench.database, read_timeout_seconds=READ_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
