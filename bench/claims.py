"""`python -m bench.claims`: claim and finish of no-op jobs, against the limit and by-hand queues.

Six processes on each side and a durable server. The limit is one two-row UPDATE by primary key for
each job, so one commit, and nothing beside it.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import closing

from bench import harness
from bench.course import LIMIT, OURS, SKIP_LOCKED, TEXTBOOK, Course
from bench.harness import Found, Row, Wanted, at_least
from bench.jobs import SLOTS
from bench.server import Bench, private_bench
from bench.turns import Figures, take_turns
from worker.database.client import Database

READ_SECONDS = 120.0
# So many jobs of its own has a slot that is stuck, before all others.
STUCK_BACKLOG, TINY_BACKLOG = 10_000, 500

WHAT = f"claim + finish of no-op jobs, {SLOTS} workers"
WHAT_STUCK = f"same, one slot stuck before {STUCK_BACKLOG:,} jobs"
WANTED = {LIMIT: at_least(0.7), TEXTBOOK: at_least(3.0), SKIP_LOCKED: at_least(2.0)}
AGAINST = {
    LIMIT: "one bare two-row UPDATE a job: the limit",
    TEXTBOOK: "UPDATE … id % N … LIMIT 1, and read back",
    SKIP_LOCKED: "FOR UPDATE SKIP LOCKED",
}


def measure(bench: Bench, options: argparse.Namespace) -> list[Row]:
    """Run all sides on one server."""
    wanted = {LIMIT: WANTED[LIMIT]} if options.only_limit else WANTED
    share = 1.0 if options.only_limit else 0.6
    with closing(Database(bench.database, read_timeout_seconds=READ_SECONDS)) as db:
        sides = Course(bench, db, SLOTS).sides([OURS, *wanted], tiny=options.tiny)
        figures = take_turns(sides, seconds=options.seconds * share, least=options.least)
        what = f"{WHAT}, {'MariaDB' if 'MariaDB' in bench.version else 'MySQL'}"
        rows = [_row(what, figures, name, limit) for name, limit in wanted.items()]
        if not options.only_limit:
            rows.append(_stuck(bench, db, options, options.seconds * (1 - share)))
        return rows


def _stuck(bench: Bench, db: Database, options: argparse.Namespace, seconds: float) -> Row:
    backlog = TINY_BACKLOG if options.tiny else STUCK_BACKLOG
    course = Course(bench, db, SLOTS, slots=range(1, SLOTS), backlog=backlog)
    sides = course.sides([OURS, TEXTBOOK], tiny=options.tiny)
    figures = take_turns(sides, seconds=seconds, least=options.least)
    return _row(WHAT_STUCK, figures, TEXTBOOK, at_least(5.0))


def _row(what: str, figures: Figures, name: str, wanted: Wanted) -> Row:
    return figures.row(what, AGAINST[name], OURS, name, wanted, unit="jobs/s")


def main() -> int:
    """Measure on one server; return the exit code."""
    parser = harness.parser("bench.claims", __doc__, seconds=90)
    parser.add_argument("--only-limit", action="store_true", help="the limit alone")
    options = harness.read(parser)
    with private_bench() as bench:
        return harness.tell(
            Found(measure(bench, options), facts={"server": bench.version}), options
        )


if __name__ == "__main__":
    sys.exit(main())
