"""`python -m bench.busy_profile`: ordinary claims behind 10,000 jobs of one busy profile.

With `--order` behind 10,000 jobs of one order key, the first of which waits. Both sides are
Nightshift, on the same ordinary rows, in short rounds that alternate: once with the held-back jobs
at the head of the queue, once without. A missed threshold is exit code 1.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any

from bench.jobs import FILL_AT_ONCE, SLOTS
from bench.pool import Pool
from bench.race import race
from bench.server import Bench, private_bench
from worker.database.client import Database
from worker.profiles import store
from worker.profiles.store import NewProfile

THRESHOLD = 0.9
READ_SECONDS = 120.0
WARM_UP_JOBS = 300
MIN_PAIRS = 3
BUSY = "busy"
HELD_SECONDS = 86_400.0

# The column that makes jobs wait, by what they wait for.
COLUMNS = {"profile": "profile_id", "order key": "order_key"}


@dataclass(frozen=True, slots=True)
class Pair:
    """Two rounds that were neighbours: jobs per second without and with the held-back jobs."""

    without: float
    behind: float

    @property
    def share(self) -> float:
        return self.behind / self.without


class Course:
    """So many ordinary jobs for each slot, with or without held-back jobs before them."""

    def __init__(
        self, bench: Bench, db: Database, kind: str, per_slot: int, busy_jobs: int
    ) -> None:
        self._bench = bench
        self._db = db
        self._kind = kind
        self._per_slot = per_slot
        self._busy_jobs = busy_jobs

    def run(self, *, behind: bool) -> float:
        """Run one round; return ordinary jobs per second."""
        self._lay_out(self._busy_jobs if behind else 0)
        pool = Pool(self._bench, SLOTS)
        with pool.beating():
            seconds = race([partial(pool.worker, slot, self._per_slot) for slot in range(SLOTS)])
        done = self._count("done")
        if done != self._per_slot * SLOTS or self._count("pending") != behind * self._busy_jobs:
            raise RuntimeError(f"{done} jobs are done, not {self._per_slot * SLOTS}")
        return done / seconds

    def _lay_out(self, busy_jobs: int) -> None:
        self._db.run_statement("TRUNCATE work_queue")
        self._db.run_statement("TRUNCATE job_attempts")
        self._db.run_statement("TRUNCATE profile_events")
        first = self._busy_jobs + 1
        self._fill(range(1, busy_jobs + 1), f"'{BUSY}'")
        if self._kind == "order key":
            self._db.run_statement(
                "UPDATE work_queue SET not_before = UTC_TIMESTAMP(6) + INTERVAL 1 DAY"
                f" WHERE id = 1 AND order_key = '{BUSY}'"
            )
        self._fill(range(first, first + self._per_slot * SLOTS), "NULL")

    def _fill(self, ids: range, name: str) -> None:
        insert = f"INSERT INTO work_queue (id, task, payload, {COLUMNS[self._kind]}) VALUES "
        for start in range(0, len(ids), FILL_AT_ONCE):
            rows = (
                f"""({i}, 'noop', '{{"url": "https://example.com/{i}"}}', {name})"""
                for i in ids[start : start + FILL_AT_ONCE]
            )
            self._db.run_statement(insert + ", ".join(rows))

    def _count(self, status: str) -> int:
        rows = self._db.run_statement(
            "SELECT COUNT(*) AS jobs FROM work_queue WHERE status = %(status)s", {"status": status}
        )
        return int(rows[0]["jobs"])


def measure(
    bench: Bench, kind: str, busy_jobs: int, round_seconds: float, budget: float
) -> list[Pair]:
    """Run pairs of rounds, each in the other order than the last, until the time is used up."""
    with closing(Database(bench.database, read_timeout_seconds=READ_SECONDS)) as db:
        if kind == "profile":
            store.add(db, [NewProfile(BUSY)], "bench")
            store.check_out(db, BUSY, person="bench", seconds=HELD_SECONDS, reason="")
        rate = Course(bench, db, kind, WARM_UP_JOBS, 0).run(behind=False)
        course = Course(bench, db, kind, int(rate * round_seconds / SLOTS), busy_jobs)
        began = time.monotonic()
        pairs: list[Pair] = []
        while len(pairs) < MIN_PAIRS or _has_time(began, len(pairs), budget):
            if len(pairs) % 2 == 0:
                without, behind = course.run(behind=False), course.run(behind=True)
            else:
                behind, without = course.run(behind=True), course.run(behind=False)
            pairs.append(Pair(without, behind))
            print(
                f"pair {len(pairs)}: without {without:.0f} jobs/s, behind the {kind} "
                f"{behind:.0f} jobs/s, share {pairs[-1].share:.2f}",
                file=sys.stderr,
                flush=True,
            )
        return pairs


def _has_time(began: float, pairs: int, budget: float) -> bool:
    took = time.monotonic() - began
    return took + took / pairs <= budget


def describe(version: str, busy_jobs: int, pairs: list[Pair]) -> dict[str, Any]:
    """Gather the figures."""
    shares = [pair.share for pair in pairs]
    return {
        "server": version,
        "busy_jobs": busy_jobs,
        "rounds": [
            {"without": pair.without, "behind": pair.behind, "share": pair.share} for pair in pairs
        ],
        "median": statistics.median(shares),
        "min": min(shares),
        "max": max(shares),
        "threshold": THRESHOLD,
        "met": statistics.median(shares) >= THRESHOLD,
    }


def main() -> int:
    """Measure on one server; return the exit code."""
    parser = argparse.ArgumentParser(prog="bench.busy_profile", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--no-check", action="store_true", help="exit 0 whatever the share is")
    parser.add_argument("--order", action="store_true", help="jobs of an order key instead")
    parser.add_argument("--jobs", type=int, default=10_000, help="jobs that are held back")
    parser.add_argument("--seconds", type=float, default=3.0, help="length of a round")
    parser.add_argument("--budget", type=float, default=48.0, help="seconds for all rounds")
    options = parser.parse_args()
    kind = "order key" if options.order else "profile"
    with private_bench() as bench:
        pairs = measure(bench, kind, options.jobs, options.seconds, options.budget)
    found = describe(bench.version, options.jobs, pairs)
    if options.json:
        print(json.dumps(found))
    else:
        print(
            f"ordinary jobs behind {options.jobs:,} of a busy {kind}, {bench.version}: "
            f"{found['median']:.2f} of the rate without them "
            f"({found['min']:.2f}–{found['max']:.2f}, wanted {THRESHOLD:.2f})"
            f"{'' if found['met'] else '  MISSED'}"
        )
    return 0 if options.no_check or found["met"] else 1


if __name__ == "__main__":
    sys.exit(main())
