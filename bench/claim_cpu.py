"""`python -m bench.claim_cpu`: processor time of a no-op job, of the server and of its workers.

Nightshift and the limit take turns. On few cores this is what the ratio of `bench.claims` comes to.
A round's processor time includes what its workers and heart need to begin.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
from contextlib import closing
from functools import partial
from pathlib import Path

from bench import harness
from bench.course import LIMIT, OURS, Course
from bench.harness import Found
from bench.jobs import SLOTS
from bench.server import Bench, private_bench
from bench.turns import take_turns
from worker.database.client import Database
from worker.database.private_server import PrivateServer

READ_SECONDS = 120.0
PARTS = ("server", "workers, user", "workers, kernel")

Costs = dict[str, list[dict[str, float]]]


def measure(bench: Bench, options: argparse.Namespace) -> Found:
    """Run both sides by turns; what is wanted is nothing but to know."""
    pid = PrivateServer(bench.folder / "mysql").pid()
    assert pid is not None
    costs: Costs = {OURS: [], LIMIT: []}
    with closing(Database(bench.database, read_timeout_seconds=READ_SECONDS)) as db:
        course = Course(bench, db, SLOTS)
        # Finds out how many jobs a round has.
        course.sides(costs, tiny=options.tiny)

        def cost(name: str) -> float:
            course.lay_out(name)
            before, jobs = _used(pid), course.jobs_of(name)
            course.race(name)
            used = {part: now - before[part] for part, now in _used(pid).items()}
            costs[name].append({part: 1e6 * seconds / jobs for part, seconds in used.items()})
            return sum(costs[name][-1].values())

        sides = {name: partial(cost, name) for name in costs}
        take_turns(sides, seconds=options.seconds, least=options.least)
    return _found(bench, costs)


def _used(server: int) -> dict[str, float]:
    """Read the seconds used so far; the workers have ended, and were waited for."""
    fields = Path(f"/proc/{server}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    ours = resource.getrusage(resource.RUSAGE_CHILDREN)
    ticks = int(fields[11]) + int(fields[12])
    seconds = (ticks / os.sysconf("SC_CLK_TCK"), ours.ru_utime, ours.ru_stime)
    return dict(zip(PARTS, seconds, strict=True))


def _found(bench: Bench, costs: Costs) -> Found:
    found = Found(facts={"server": bench.version})
    for name, rounds in costs.items():
        mean = {part: sum(each[part] for each in rounds) / len(rounds) for part in PARTS}
        split = ", ".join(f"{part} {cost:.0f}" for part, cost in mean.items())
        note = f"{name}, CPU of a no-op job in µs: {split}"
        totals = [sum(each.values()) for each in rounds]
        found.rows.append(
            harness.alone(f"CPU of a no-op job, {name}", totals, None, unit="µs", note=note)
        )
    return found


def main() -> int:
    """Measure on one server; return the exit code."""
    options = harness.read(harness.parser("bench.claim_cpu", __doc__, seconds=20))
    with private_bench() as bench:
        return harness.tell(measure(bench, options), options)


if __name__ == "__main__":
    sys.exit(main())
