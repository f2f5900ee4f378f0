"""`python -m bench.quick`: claim and finish of no-op jobs, as a share of what is possible.

Both sides do the same number of jobs on the same rows, in short rounds that alternate, so that
whatever else the machine does falls on both. A missed threshold is exit code 1.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any

from bench import share_table
from bench.jobs import SLOTS, Jobs, count_done
from bench.limit import bare_worker
from bench.pool import Pool
from bench.race import race
from bench.server import Bench, private_bench
from worker.database.client import Database

READ_SECONDS = 120.0
WARM_UP_JOBS = 300
MIN_PAIRS = 3


@dataclass(frozen=True, slots=True)
class Scenario:
    """A state of the queue, and the share of the limit that Nightshift must reach in it."""

    name: str
    threshold: float
    slots: range
    backlog: int


SCENARIOS = (
    Scenario("6 workers", 0.85, range(SLOTS), 0),
    Scenario("5 workers behind a backlog of 100,000", 0.8, range(1, SLOTS), 100_000),
)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two rounds that were neighbours: jobs per second of each side."""

    limit: float
    nightshift: float

    @property
    def share(self) -> float:
        return self.nightshift / self.limit


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one scenario came to."""

    scenario: Scenario
    jobs: int
    pairs: list[Pair]

    @property
    def shares(self) -> list[float]:
        return [pair.share for pair in self.pairs]

    @property
    def is_met(self) -> bool:
        return statistics.median(self.shares) >= self.scenario.threshold

    def as_json(self) -> dict[str, Any]:
        return {
            "scenario": self.scenario.name,
            "jobs_per_round": self.jobs,
            "rounds": [
                {"limit": p.limit, "nightshift": p.nightshift, "share": p.share} for p in self.pairs
            ],
            "median": statistics.median(self.shares),
            "min": min(self.shares),
            "max": max(self.shares),
            "threshold": self.scenario.threshold,
            "met": self.is_met,
        }


class Course:
    """One scenario laid out on one server, ready for rounds of either side."""

    def __init__(self, bench: Bench, db: Database, jobs: Jobs) -> None:
        self._bench = bench
        self._db = db
        self._jobs = jobs
        jobs.store(db)

    def limit(self) -> float:
        """Run a round of bare UPDATEs; return jobs per second."""
        ids = self._jobs.ids
        return self._timed(
            lambda: race([partial(bare_worker, self._bench.database, ids(s)) for s in self._slots])
        )

    def nightshift(self) -> float:
        """Run a round of Nightshift's workers, with a heart; return jobs per second."""
        pool = Pool(self._bench, SLOTS)
        per_slot = self._jobs.per_slot

        def run() -> float:
            with pool.beating():
                return race([partial(pool.worker, slot, per_slot) for slot in self._slots])

        return self._timed(run)

    @property
    def _slots(self) -> range:
        return self._jobs.slots

    def _timed(self, run: Callable[[], float]) -> float:
        self._jobs.lay_out(self._db)
        seconds = run()
        done = count_done(self._db)
        if done != self._jobs.total:
            raise RuntimeError(f"{done} jobs are done, not {self._jobs.total}")
        return done / seconds


def measure(bench: Bench, scenario: Scenario, round_seconds: float, budget: float) -> Outcome:
    """Run pairs of rounds, each in the other order than the last, until the time is used up."""
    with closing(Database(bench.database, read_timeout_seconds=READ_SECONDS)) as db:
        deadline = time.monotonic() + budget
        warm_up = Course(bench, db, Jobs(scenario.slots, WARM_UP_JOBS, 0))
        per_slot = int(warm_up.limit() * round_seconds / len(scenario.slots))
        jobs = Jobs(scenario.slots, per_slot, scenario.backlog)
        course = Course(bench, db, jobs)
        pairs: list[Pair] = []
        began = time.monotonic()
        while len(pairs) < MIN_PAIRS or _has_time(began, len(pairs), deadline):
            if len(pairs) % 2 == 0:
                limit, nightshift = course.limit(), course.nightshift()
            else:
                nightshift, limit = course.nightshift(), course.limit()
            pairs.append(Pair(limit, nightshift))
            _note(scenario, pairs)
        return Outcome(scenario, jobs.total, pairs)


def _has_time(began: float, pairs: int, deadline: float) -> bool:
    now = time.monotonic()
    return now + (now - began) / pairs <= deadline


def _note(scenario: Scenario, pairs: list[Pair]) -> None:
    last = pairs[-1]
    print(
        f"{scenario.name}, pair {len(pairs)}: limit {last.limit:.0f} jobs/s, "
        f"Nightshift {last.nightshift:.0f} jobs/s, share {last.share:.2f}",
        file=sys.stderr,
        flush=True,
    )


def render(version: str, outcomes: list[Outcome]) -> str:
    """Lay the outcomes out as a table."""
    lines = [
        f"claim and finish of no-op jobs as a share of two bare UPDATEs, {version}",
        share_table.header(40, "limit"),
    ]
    for outcome in outcomes:
        pairs = [(pair.limit, pair.nightshift) for pair in outcome.pairs]
        lines.append(share_table.line(outcome.scenario.name, 40, pairs, outcome.scenario.threshold))
    return "\n".join(lines)


def main() -> int:
    """Measure every scenario on one server; return the exit code."""
    parser = argparse.ArgumentParser(prog="bench.quick", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--no-check", action="store_true", help="exit 0 whatever the shares are")
    parser.add_argument("--seconds", type=float, default=3.0, help="length of a round")
    parser.add_argument("--budget", type=float, default=48.0, help="seconds for a scenario")
    options = parser.parse_args()
    with private_bench() as bench:
        outcomes = [measure(bench, each, options.seconds, options.budget) for each in SCENARIOS]
    if options.json:
        found = [outcome.as_json() for outcome in outcomes]
        print(json.dumps({"server": bench.version, "scenarios": found}))
    else:
        print(render(bench.version, outcomes))
    return 0 if options.no_check or all(outcome.is_met for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
