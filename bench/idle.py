"""`python -m bench.idle`: what six workers that have nothing to do cost the server.

A real launcher waits for work in an empty queue, and for 300,000 jobs that cannot be claimed for an
hour: of the future, behind a breaker, over a limit. Over 5 % of a core is exit code 1.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench import noop
from bench.jobs import FILL_AT_ONCE
from bench.launched import command, environment, living_workers, stop, tail
from bench.server import Bench, private_bench
from worker.database.client import Database
from worker.database.private_server import PrivateServer
from worker.guards import breakers, limits
from worker.system.process_tree import descendants

WORKERS = 6
MOST_OF_A_CORE = 0.05
READ_SECONDS = 120.0
START_SECONDS = 60.0
QUIET_SECONDS = 120.0
SITE = "held.example"
HELD_SECONDS = 3600.0

SCENARIOS = ("empty queue", "future", "breaker-held", "limited")


@dataclass(frozen=True, slots=True)
class Cost:
    """Shares of a core, of the server and of the launcher with all its children, once it is quiet.

    Before that every worker finds out, once, that there is nothing for it.
    """

    scenario: str
    server_seconds_at_first: float
    server: float
    pool: float

    @property
    def is_met(self) -> bool:
        return self.server <= MOST_OF_A_CORE


class Idling:
    """One bench, its server's process, and the queue on it."""

    def __init__(self, bench: Bench, db: Database) -> None:
        pid = PrivateServer(bench.folder / "mysql").pid()
        assert pid is not None
        self._bench = bench
        self._db = db
        self._server = pid

    def measure(self, scenario: str, jobs: int, seconds: float) -> Cost:
        """Lay the jobs out, let a pool wait before them, and take the processor time of both."""
        self._lay_out(scenario, jobs)
        # Where there are jobs the run drains, and asks again and again whether that is over.
        waiting = ["--follow"] if scenario == "empty queue" else ["--wait-retries", "1d"]
        log = self._bench.folder / "launcher.log"
        with log.open("wb") as out:
            launcher = subprocess.Popen(
                command(self._bench, WORKERS, str(Path(noop.__file__)), *waiting),
                env=environment(self._bench),
                stdout=out,
                stderr=out,
            )
            try:
                self._wait_for_workers(launcher, log)
                at_first = self._wait_until_quiet(launcher)
                server, pool = self._watch(launcher, seconds)
            finally:
                stop(launcher)
        return Cost(scenario, at_first, server, pool)

    def _lay_out(self, scenario: str, jobs: int) -> None:
        for table in ("work_queue", "job_attempts", "breakers", "limits"):
            self._db.run_statement(f"TRUNCATE {table}")
        if scenario == "empty queue":
            return
        held = f"UTC_TIMESTAMP(6) + INTERVAL {HELD_SECONDS} SECOND"
        due = held if scenario == "future" else "NULL"
        for start in range(1, jobs + 1, FILL_AT_ONCE):
            rows = (
                f"""({number}, 'noop', '{{"url": "https://{SITE}/{number}"}}', {due})"""
                for number in range(start, min(start + FILL_AT_ONCE, jobs + 1))
            )
            self._db.run_statement(
                "INSERT INTO work_queue (id, task, payload, not_before) VALUES " + ", ".join(rows)
            )
        if scenario == "breaker-held":
            breakers.open_by_hand(self._db, f"site:{SITE}", HELD_SECONDS, "bench", "bench")
        elif scenario == "limited":
            limits.set_limit(self._db, "task:noop", concurrent=None, per_minute=1, by="bench")
            self._db.run_statement(f"UPDATE limits SET next_start_at = {held}")

    def _wait_for_workers(self, launcher: subprocess.Popen[bytes], log: Path) -> None:
        deadline = time.monotonic() + START_SECONDS
        while len(living_workers(self._db, launcher)) < WORKERS:
            if launcher.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("\n".join(["the launcher has no workers:", *tail(log)]))
            time.sleep(0.1)

    def _wait_until_quiet(self, launcher: subprocess.Popen[bytes]) -> float:
        """Wait until the first looks are over; return the processor time that they took."""
        began = cpu_seconds([self._server])
        deadline = time.monotonic() + QUIET_SECONDS
        quiet = 0
        while quiet < 3 and time.monotonic() < deadline:
            server, _ = self._watch(launcher, 2.0)
            quiet = quiet + 1 if server <= MOST_OF_A_CORE else 0
        return cpu_seconds([self._server]) - began

    def _watch(self, launcher: subprocess.Popen[bytes], seconds: float) -> tuple[float, float]:
        """Return the shares of a core that server and pool use for a while."""
        family = [launcher.pid, *(stat.pid for stat in descendants(launcher.pid))]
        began = time.monotonic()
        server, pool = cpu_seconds([self._server]), cpu_seconds(family)
        time.sleep(seconds)
        took = time.monotonic() - began
        return (
            (cpu_seconds([self._server]) - server) / took,
            (cpu_seconds(family) - pool) / took,
        )


def cpu_seconds(pids: list[int]) -> float:
    """Add up the processor time that processes have used so far, in user and in system mode."""
    ticks = 0
    for pid in pids:
        # The program's name, in brackets, may hold spaces.
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def render(version: str, jobs: int, costs: list[Cost]) -> str:
    """Lay the costs out as a table."""
    lines = [
        f"{WORKERS} idle workers, {jobs:,} jobs that cannot be claimed, {version}: % of a core",
        f"{'':16}{'server at first':>18}{'server':>10}{'pool':>10}{'wanted':>10}",
    ]
    lines += [
        f"{cost.scenario:16}{cost.server_seconds_at_first:>16.1f} s{100 * cost.server:>8.1f} %"
        f"{100 * cost.pool:>8.1f} %{100 * MOST_OF_A_CORE:>8.1f} %"
        f"{'' if cost.is_met else '  MISSED'}"
        for cost in costs
    ]
    return "\n".join(lines)


def main() -> int:
    """Measure every scenario on one server; return the exit code."""
    parser = argparse.ArgumentParser(prog="bench.idle", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--jobs", type=int, default=300_000, help="jobs that cannot be claimed")
    parser.add_argument("--seconds", type=float, default=15.0, help="length of the measurement")
    parser.add_argument("--only", choices=SCENARIOS, help="one scenario alone")
    options = parser.parse_args()
    costs = []
    with (
        private_bench() as bench,
        closing(Database(bench.database, read_timeout_seconds=READ_SECONDS)) as db,
    ):
        idling = Idling(bench, db)
        for scenario in [options.only] if options.only else SCENARIOS:
            costs.append(idling.measure(scenario, options.jobs, options.seconds))
            print(_note(costs[-1]), file=sys.stderr, flush=True)
    if options.json:
        found: list[dict[str, Any]] = [{**asdict(cost), "met": cost.is_met} for cost in costs]
        print(json.dumps({"server": bench.version, "jobs": options.jobs, "scenarios": found}))
    else:
        print(render(bench.version, options.jobs, costs))
    return 0 if all(cost.is_met for cost in costs) else 1


def _note(cost: Cost) -> str:
    return f"{cost.scenario}: server {100 * cost.server:.1f} %, pool {100 * cost.pool:.1f} %"


if __name__ == "__main__":
    sys.exit(main())
