"""`python -m bench.latency`: how long a claim takes, from asking to having it, by table size.

Tables of 1,000 to 1,000,000 jobs of the same mixture lie on one server: four tenths are done, three
pending, two in the future, one held back by a breaker. Each round claims as many jobs from each.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from functools import partial

from bench import harness
from bench.harness import Found, Plot, at_most
from bench.numbers import have_numbers
from bench.pool import Pool
from bench.server import Bench, create_queue, private_bench
from bench.turns import take_turns
from worker.database.client import Database
from worker.execution.stop_request import StopRequest
from worker.guards import breakers

SIZES, TINY_SIZES = (1_000, 10_000, 100_000, 1_000_000), (1_000, 2_000)
# Three tenths of the smallest table are pending.
CLAIMS, TINY_CLAIMS = 250, 50
SOON_EMPTY = 10_000
AT_ONCE = 100_000
READ_SECONDS = 300.0
SHARES = (("p50", 0.5), ("p99", 0.99))
WANTED = at_most(1.2)
HELD_SITE, HELD_SECONDS = "held.example", 86_400.0

_FILL = """
INSERT INTO work_queue (id, task, payload, status, attempts, fence, worker_id, incarnation,
                        started_at, finished_at, not_before)
SELECT n + 1, 'noop',
       CONCAT('{{"url": "https://', IF(kind = 9, '{held}', 'example.com'), '/', n, '"}}'),
       IF(kind < 4, 'done', 'pending'), kind < 4, kind < 4,
       IF(kind < 4, 0, NULL), IF(kind < 4, 1, NULL),
       IF(kind < 4, UTC_TIMESTAMP(6) - INTERVAL 1 HOUR, NULL),
       IF(kind < 4, UTC_TIMESTAMP(6) - INTERVAL 1 HOUR, NULL),
       IF(kind IN (7, 8), UTC_TIMESTAMP(6) + INTERVAL 1 DAY, NULL)
  FROM (SELECT n, n % 10 AS kind FROM bench_numbers WHERE n >= {first} AND n < {last}) numbers
 ORDER BY n
"""


class Table:
    """A queue of one size, in a database of its own."""

    def __init__(self, bench: Bench, jobs: int) -> None:
        self._bench = replace(bench, database=replace(bench.database, database=f"jobs_{jobs}"))
        self._jobs = jobs
        self.times: list[list[float]] = []
        create_queue(self._bench.database)
        with self._connected() as db:
            db.lift_statement_limit()
            have_numbers(db, jobs)
            breakers.open_by_hand(db, f"site:{HELD_SITE}", HELD_SECONDS, "bench", "bench")
            self._fill(db)

    def claim(self, claims: int, *, is_emptied: bool) -> float:
        """Claim so many jobs with a new worker; return the median in ms and keep all times."""
        if is_emptied:
            with self._connected() as db:
                db.run_statement("TRUNCATE work_queue")
                self._fill(db)
        stop = StopRequest()
        loop = Pool(self._bench, 1).loop(0, stop)
        times = []
        with closing(loop.gate.db):
            for _ in range(claims):
                began = time.perf_counter()
                claim = loop.gate.claim(loop.owner, loop.candidates)
                times.append(1000 * (time.perf_counter() - began))
                if claim is None:
                    raise RuntimeError(f"no job to claim among {self._jobs:,}")
                # A job that is finished when its worker must stop brings no other with it.
                stop.is_stopping = True
                loop.do(claim)
                stop.is_stopping = False
        self.times.append(sorted(times))
        return statistics.median(times)

    def quantiles(self, share: float) -> list[float]:
        """Read one quantile off each round."""
        return [times[min(int(share * len(times)), len(times) - 1)] for times in self.times]

    def _connected(self) -> closing[Database]:
        return closing(Database(self._bench.database, read_timeout_seconds=READ_SECONDS))

    def _fill(self, db: Database) -> None:
        for first in range(0, self._jobs, AT_ONCE):
            last = min(first + AT_ONCE, self._jobs)
            db.run_statement(_FILL.format(held=HELD_SITE, first=first, last=last))
        db.run_statement("ANALYZE TABLE work_queue")


def measure(bench: Bench, options: argparse.Namespace) -> Found:
    """Fill the tables, then claim from them by turns."""
    sizes = TINY_SIZES if options.tiny else SIZES
    claims = TINY_CLAIMS if options.tiny else CLAIMS
    began = time.monotonic()
    tables = {jobs: Table(bench, jobs) for jobs in sizes}
    filled = time.monotonic() - began
    harness.say(f"filled in {filled:.0f} s")
    sides: dict[str, Callable[[], float]] = {
        # The small ones would soon be empty.
        f"{jobs:,} jobs": partial(table.claim, claims, is_emptied=jobs <= SOON_EMPTY)
        for jobs, table in tables.items()
    }
    figures = take_turns(sides, seconds=options.seconds - filled, least=options.least)
    return _found(tables, figures.lost)


def _found(tables: dict[int, Table], lost: dict[str, str]) -> Found:
    found, (small, *_, large) = Found(), tables
    lines = {}
    if lost:
        found.rows = [
            harness.missing(
                f"claim latency {name}, {large:,} jobs", f"at {small:,} jobs", WANTED,
                "; ".join(lost.values()),
            )
            for name, _ in SHARES
        ]  # fmt: skip
        return found
    for name, share in SHARES:
        found.rows.append(
            harness.compared(
                f"claim latency {name}, {large:,} jobs",
                f"at {small:,} jobs",
                tables[large].quantiles(share),
                tables[small].quantiles(share),
                WANTED,
                unit="ms",
            )
        )
        lines[name] = [
            (float(jobs), statistics.median(table.quantiles(share)))
            for jobs, table in tables.items()
        ]
    found.plots["claim-latency"] = Plot("Claim latency against table size", "jobs", "ms", lines)
    return found


def main() -> int:
    """Measure on one server; return the exit code."""
    options = harness.read(harness.parser("bench.latency", __doc__, seconds=100))
    with private_bench() as bench:
        found = measure(bench, options)
        found.facts["server"] = bench.version
        return harness.tell(found, options)


if __name__ == "__main__":
    sys.exit(main())
