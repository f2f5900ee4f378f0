"""`python -m bench.growth`: how the rate of no-op jobs changes with workers and with a backlog.

From 1 to 200 workers without browsers, and five of six slots at work behind up to 100,000 jobs of
the sixth. Nothing is wanted of these rows: they show where cost grows.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Iterable
from contextlib import closing

from bench import harness
from bench.course import OURS, Course
from bench.harness import Found, Plot, Row
from bench.jobs import SLOTS
from bench.server import Bench, private_bench
from bench.turns import Figures, take_turns
from worker.database.client import Database

WORKERS, TINY_WORKERS = (1, 2, 6, 12, 50, 200), (1, 3)
BACKLOGS, TINY_BACKLOGS = (0, 1_000, 10_000, 100_000), (0, 100)
READ_SECONDS = 120.0
# Each worker has a connection, and so has the heart.
MOST_CONNECTIONS = 300


def measure(bench: Bench, options: argparse.Namespace) -> Found:
    """Run both series on one server."""
    with closing(Database(bench.database, read_timeout_seconds=READ_SECONDS)) as db:
        workers = {
            str(count): Course(bench, db, count)
            for count in (TINY_WORKERS if options.tiny else WORKERS)
        }
        backlogs = {
            str(jobs): Course(bench, db, SLOTS, slots=range(1, SLOTS), backlog=jobs)
            for jobs in (TINY_BACKLOGS if options.tiny else BACKLOGS)
        }
        by_workers = _rates(workers, options, options.seconds * 0.6)
        by_backlog = _rates(backlogs, options, options.seconds * 0.4)
    found = Found()
    found.rows += _rows("no-op jobs, {} workers", "one worker", workers, by_workers)
    found.rows += _rows("no-op jobs behind a backlog of {}", "none", backlogs, by_backlog)
    found.plots["no-op-workers"] = _plot("No-op jobs by workers", "workers", by_workers)
    found.plots["no-op-backlog"] = _plot("Behind a backlog of one slot", "backlog", by_backlog)
    return found


def _rates(courses: dict[str, Course], options: argparse.Namespace, seconds: float) -> Figures:
    sides = {
        name: course.sides([OURS], tiny=options.tiny)[OURS] for name, course in courses.items()
    }
    # Every side has had a round already, to find out how many jobs take one.
    return take_turns(sides, seconds=seconds * 0.7, least=harness.TINY_ROUNDS)


def _rows(what: str, against: str, names: Iterable[str], rates: Figures) -> list[Row]:
    first, *others = names
    return [
        rates.row(what.format(f"{int(name):,}"), against, name, first, None, unit="jobs/s")
        for name in others
    ]


def _plot(title: str, x: str, rates: Figures) -> Plot:
    points = [(float(name), statistics.median(figures)) for name, figures in rates.items()]
    return Plot(title, x, "jobs/s", {"Nightshift": points})


def main() -> int:
    """Measure on one server; return the exit code."""
    options = harness.read(harness.parser("bench.growth", __doc__, seconds=80))
    with private_bench(f"--max-connections={MOST_CONNECTIONS}") as bench:
        found = measure(bench, options)
        found.facts["server"] = bench.version
        return harness.tell(found, options)


if __name__ == "__main__":
    sys.exit(main())
