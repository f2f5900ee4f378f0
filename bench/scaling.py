"""`python -m bench.scaling`: what one server carries, measured, and simulated beside it.

Workers without browsers do jobs that sleep as long as a page takes. Each load is simulated with
what its jobs cost, on the cores that pool and server share here: where the two differ, something
else than processor time holds the pool up.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from os import cpu_count, getloadavg

from bench import harness
from bench.connections import READ_SECONDS
from bench.fleet import SPARE_CONNECTIONS, Use, fleet
from bench.server import Bench, private_bench
from bench.simulation import Load, simulate
from worker.database.client import Database

WORKERS, TINY_WORKERS = 500, 4
# Seconds that a job takes: the pool wants more and more of the server.
JOB_SECONDS, TINY_JOB_SECONDS = (5.0, 2.0, 1.0, 0.5), (0.2,)
WATCH_SECONDS, TINY_WATCH_SECONDS = 20.0, 3.0
# How much longer the jobs would last, if nothing held the pool up.
SPARE_SECONDS = 15.0
DAY_SECONDS = 86_400


@dataclass(frozen=True, slots=True)
class Point:
    """One load as it was measured, and as it is simulated."""

    workers: int
    job_seconds: float
    use: Use
    simulated: float

    @property
    def ideal(self) -> float:
        return self.workers / self.job_seconds

    @property
    def share(self) -> float:
        return self.use.jobs / self.ideal


def measure(
    bench: Bench, db: Database, workers: int, lengths: Sequence[float], seconds: float
) -> list[Point]:
    """Let one pool do jobs of each length; return a point for each."""
    points = []
    with fleet(bench, db, workers, harness.say) as hosts:
        for length in lengths:
            hosts.fill(
                int(workers / length * (seconds + 3 * length + SPARE_SECONDS)),
                "nap",
                json.dumps({"seconds": length}),
            )
            hosts.wait_until(workers // 2, "in_progress")
            # Until all are at work, and no longer in step.
            time.sleep(2 * length + seconds / 6)
            use = hosts.watch(seconds)
            hosts.empty()
            points.append(Point(workers, length, use, simulated(workers, length, use)))
            harness.say(f"{points[-1]}")
    return points


def simulated(workers: int, job_seconds: float, use: Use) -> float:
    """Simulate a load where pool and server share this machine; return jobs per second."""
    cost = (use.server + use.pool) / max(use.jobs, 0.001)
    return simulate(Load(workers, job_seconds, cost, cpu_count() or 1)).rate


def render(version: str, load: float, points: Sequence[Point]) -> str:
    """Lay the points out as a Markdown table."""
    lines = [
        f"{version}, {cpu_count()} cores for pool and server together, load {load:.1f} before",
        "",
        "| workers | a job takes | possible | measured | of it | a day | simulated | server "
        "| pool | statements per job |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {point.workers} | {point.job_seconds:g} s | {point.ideal:.0f} jobs/s "
        f"| {point.use.jobs:.1f} jobs/s | {100 * point.share:.0f} % "
        f"| {point.use.jobs * DAY_SECONDS / 1e6:.1f} million | {point.simulated:.1f} jobs/s "
        f"| {100 * point.use.server:.0f} % of a core, {point.use.server_ms:.2f} ms a job "
        f"| {100 * point.use.pool:.0f} % of a core, {point.use.pool_ms:.2f} ms a job "
        f"| {point.use.statements / max(point.use.jobs, 1):.1f} |"
        for point in points
    ]
    return "\n".join(lines)


def main() -> int:
    """Measure and simulate each load; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.scaling", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--tiny", action="store_true", help="only show that it works")
    parser.add_argument("--workers", type=int, help=f"workers  [default: {WORKERS}]")
    options = parser.parse_args()
    workers = options.workers or (TINY_WORKERS if options.tiny else WORKERS)
    lengths = TINY_JOB_SECONDS if options.tiny else JOB_SECONDS
    seconds = TINY_WATCH_SECONDS if options.tiny else WATCH_SECONDS
    load = getloadavg()[0]
    with (
        private_bench(f"--max-connections={workers + SPARE_CONNECTIONS}") as bench,
        closing(Database(bench.database, read_timeout_seconds=READ_SECONDS)) as db,
    ):
        points = measure(bench, db, workers, lengths, seconds)
    if options.json:
        found = [asdict(point) for point in points]
        print(json.dumps({"server": bench.version, "load": load, "points": found}))
    else:
        print(render(bench.version, load, points))
    return 0


if __name__ == "__main__":
    sys.exit(main())
