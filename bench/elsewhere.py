"""`python -m bench.elsewhere`: how soon throughput is back when one of two browser servers dies.

Four workers have their browsers on two Playwright servers and load a site that takes 500 ms, so
that workers are what counts, not processors. Then one server is killed, with all its browsers.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing
from datetime import datetime

from bench import harness, launched
from bench.harness import Found, alone, below
from bench.numbers import have_numbers
from bench.pages_site import serving
from bench.server import Bench, private_bench
from tests.elsewhere import PlaywrightServer
from worker.database.client import Database

WORKERS, JOBS = 4, 1_000
START_SECONDS = 60.0
# All work for so long before the kill, and for so long after it.
BEFORE_SECONDS, AFTER_SECONDS = 6.0, 12.0
# Throughput is back where this long a time has this share of the pages that it had before.
WINDOW_SECONDS, SHARE = 3.0, 0.9
WANTED = below(5, "s")


def back_after(ends: Sequence[float], rate: float, last: float) -> float | None:
    """Say when the first window begins, by seconds after the kill, in which all is as before.

    `ends` are the ends of pages after the kill; nothing is known of what came after `last`.
    """
    needed = SHARE * rate * WINDOW_SECONDS
    for start in (0.0, *sorted(ends)):
        if start + WINDOW_SECONDS > last:
            return None
        if sum(start <= end < start + WINDOW_SECONDS for end in ends) >= needed:
            return start
    return None


def measure(bench: Bench, base_url: str) -> Found:
    """Kill a server in the middle of a run."""
    with ExitStack() as stack:
        db = stack.enter_context(closing(Database(bench.database)))
        servers = []
        for name in ("first", "second"):
            servers.append(PlaywrightServer(bench.folder / name))
            stack.callback(servers[-1].stop)
        have_numbers(db, JOBS)
        payload = json.dumps({"url": f"{base_url}/slow"})
        db.run_statement(
            f"INSERT INTO work_queue (task, payload) SELECT 'load_context', '{payload}' "
            f"FROM bench_numbers WHERE n < {JOBS}"
        )
        launcher = subprocess.Popen(
            launched.command(bench, WORKERS, "bench.pages_task", "--quiet"),
            env=launched.environment(
                bench, NIGHTSHIFT_BROWSER_ENDPOINT=" ".join(each.url for each in servers)
            ),
        )
        stack.callback(launched.stop, launcher)
        _wait_for_workers(db, launcher)
        began = _now(db)
        time.sleep(BEFORE_SECONDS)
        killed = _now(db)
        servers[0].kill()
        time.sleep(AFTER_SECONDS)
        last = (_now(db) - killed).total_seconds()
        ends = _ends(db, began, killed)
    rate = sum(end < 0 for end in ends) / (killed - began).total_seconds()
    seconds = back_after([end for end in ends if end >= 0], rate, last)
    harness.say(f"{rate:.1f} pages/s before, back after {seconds} s")
    what = f"throughput back after one of two browser servers dies, {WORKERS} workers"
    facts = {"server": bench.version}
    if seconds is None:
        why = f"{what}: {rate:.1f} pages/s did not come back in {AFTER_SECONDS:g} s"
        return Found([harness.missing(what, "–", WANTED, why)], facts=facts)
    return Found([alone(what, [seconds], WANTED, unit="s")], facts=facts)


def _wait_for_workers(db: Database, launcher: subprocess.Popen[bytes]) -> None:
    """Wait until every worker has loaded two pages."""
    deadline = time.monotonic() + START_SECONDS
    count = (
        "SELECT COUNT(*) AS workers FROM (SELECT incarnation FROM work_queue "
        "WHERE status = 'done' GROUP BY incarnation HAVING COUNT(*) > 1) at_work"
    )
    while int(db.run_statement(count)[0]["workers"]) < WORKERS:
        if launcher.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"{WORKERS} workers do not get their browsers elsewhere")
        time.sleep(0.1)


def _now(db: Database) -> datetime:
    moment: datetime = db.run_statement("SELECT UTC_TIMESTAMP(6) AS now")[0]["now"]
    return moment


def _ends(db: Database, began: datetime, killed: datetime) -> list[float]:
    """Read when pages were done since it began, in seconds from the kill."""
    rows = db.run_statement(
        "SELECT finished_at FROM work_queue WHERE status = 'done' AND finished_at >= %(began)s",
        {"began": began},
    )
    return [(row["finished_at"] - killed).total_seconds() for row in rows]


def main() -> int:
    """Measure on one server; return the exit code."""
    options = harness.read(harness.parser("bench.elsewhere", __doc__, seconds=0))
    with private_bench() as bench, serving() as base_url:
        return harness.tell(measure(bench, base_url), options)


if __name__ == "__main__":
    sys.exit(main())
