"""`python -m bench.quick`: claim and finish of no-op jobs against the limit, in two minutes.

The limit is one bare two-row UPDATE by primary key for each job, as in `bench.claims`: once with
all slots at work, once behind a backlog of a slot that is not.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import closing

from bench import harness
from bench.claims import AGAINST, READ_SECONDS, WANTED, WHAT
from bench.course import LIMIT, OURS, Course
from bench.harness import Found
from bench.jobs import SLOTS
from bench.server import Bench, private_bench
from bench.turns import take_turns
from worker.database.client import Database

BACKLOG, TINY_BACKLOG = 100_000, 500


def measure(bench: Bench, options: argparse.Namespace) -> Found:
    """Let both sides take turns, without the backlog and with it."""
    backlog = TINY_BACKLOG if options.tiny else BACKLOG
    found = Found(facts={"server": bench.version})
    with closing(Database(bench.database, read_timeout_seconds=READ_SECONDS)) as db:
        courses = {
            WHAT: Course(bench, db, SLOTS),
            f"same, {SLOTS - 1} workers behind a backlog of {backlog:,}": Course(
                bench, db, SLOTS, slots=range(1, SLOTS), backlog=backlog
            ),
        }
        for what, course in courses.items():
            sides = course.sides([OURS, LIMIT], tiny=options.tiny)
            figures = take_turns(sides, seconds=options.seconds / len(courses), least=options.least)
            found.rows.append(
                figures.row(what, AGAINST[LIMIT], OURS, LIMIT, WANTED[LIMIT], unit="jobs/s")
            )
    return found


def main() -> int:
    """Measure on one server; return the exit code."""
    options = harness.read(harness.parser("bench.quick", __doc__, seconds=80))
    with private_bench() as bench:
        return harness.tell(measure(bench, options), options)


if __name__ == "__main__":
    sys.exit(main())
