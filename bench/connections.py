"""`python -m bench.connections`: what 50 and 500 workers cost one server.

Real launchers with up to 50 workers each, none of which has a browser: first they wait for work,
then they do jobs that do nothing. Pool and server share the machine. Nothing is wanted of the
figures; docs/scaling.md goes by them.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from os import getloadavg

from bench import harness
from bench.fleet import SPARE_CONNECTIONS, Use, fleet, memory_mb, server_pid
from bench.server import Bench, private_bench
from worker.database.client import Database

COUNTS, TINY_COUNTS = (6, 50, 500), (2,)
SETTLE_SECONDS, WATCH_SECONDS = 6.0, 12.0
TINY_SECONDS = 2.0
# More than the server can do meanwhile.
JOBS, TINY_JOBS = 40_000, 4_000
READ_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Cost:
    """What so many workers cost the server, before work and at work."""

    workers: int
    connections: int
    most_connections: int
    memory_mb: float
    idle: Use
    busy: Use


def measure(bench: Bench, db: Database, workers: int, *, tiny: bool) -> Cost:
    """Start the workers, watch them wait and work, and end them."""
    settle = TINY_SECONDS if tiny else SETTLE_SECONDS
    seconds = TINY_SECONDS if tiny else WATCH_SECONDS
    db.run_statement("FLUSH STATUS")
    with fleet(bench, db, workers, harness.say) as hosts:
        time.sleep(settle)
        idle = hosts.watch(seconds)
        connections = hosts.connections()
        hosts.fill(TINY_JOBS if tiny else JOBS, "noop", '{"url": "https://example.com/"}')
        hosts.wait_until(2 * workers, "done")
        time.sleep(settle / 3)
        busy = hosts.watch(seconds)
        memory = hosts.server_mb()
        most = hosts.most_connections()
        hosts.empty()
    return Cost(workers, connections, most, memory, idle, busy)


def render(version: str, load: float, memory: float, costs: Sequence[Cost]) -> str:
    """Lay the costs out as a Markdown table."""
    lines = [
        f"{version}, load {load:.1f} before; the server holds {memory:.0f} MB without any worker.",
        "",
        "| workers | connections | at once at the most | server's memory | idle: server, "
        "statements | no-op jobs | server per job | statements per job | pool per job |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {cost.workers} | {cost.connections} | {cost.most_connections} "
        f"| {cost.memory_mb:.0f} MB "
        f"| {100 * cost.idle.server:.1f} % of a core, {cost.idle.statements:.0f}/s "
        f"| {cost.busy.jobs:,.0f}/s | {cost.busy.server_ms:.2f} ms "
        f"| {cost.busy.statements / max(cost.busy.jobs, 1):.1f} | {cost.busy.pool_ms:.2f} ms |"
        for cost in costs
    ]
    return "\n".join(lines)


def main() -> int:
    """Measure every number of workers on one server; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.connections", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--tiny", action="store_true", help="only show that it works")
    parser.add_argument("--workers", type=int, action="append", help="so many; repeat for more")
    options = parser.parse_args()
    counts = options.workers or (TINY_COUNTS if options.tiny else COUNTS)
    costs, load = [], getloadavg()[0]
    with (
        private_bench(f"--max-connections={max(counts) + SPARE_CONNECTIONS}") as bench,
        closing(Database(bench.database, read_timeout_seconds=READ_SECONDS)) as db,
    ):
        memory = memory_mb(server_pid(bench))
        for count in counts:
            costs.append(measure(bench, db, count, tiny=options.tiny))
            harness.say(f"{count} workers: {costs[-1]}")
    if options.json:
        found = [asdict(cost) for cost in costs]
        print(
            json.dumps({"server": bench.version, "load": load, "memory_mb": memory, "costs": found})
        )
    else:
        print(render(bench.version, load, memory, costs))
    return 0


if __name__ == "__main__":
    sys.exit(main())
