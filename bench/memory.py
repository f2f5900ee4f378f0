"""`python -m bench.memory`: memory of the whole tree after 2,000 pages, against after 200.

Launcher, heart, workers, drivers and browsers, by their proportional share of what they map. It is
sampled twice a second, and the median of the samples around a count is taken: pages come and go.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from bench import harness, launched
from bench.harness import Found, Plot, at_most, compared
from bench.pages_site import serving
from bench.server import Bench, private_bench
from worker.database.client import Database
from worker.system.process_tree import descendants

PAGES, TINY_PAGES = 2_000, 40
# The earlier count, and how far around both samples are taken, as shares of the pages.
EARLY, AROUND = 0.1, 0.02
SAMPLE_SECONDS = 0.5
DEADLINE_SECONDS = 900.0
PLOT_POINTS = 40

Sample = tuple[int, float]


def measure(bench: Bench, base_url: str, options: argparse.Namespace) -> Found:
    """Have the pages loaded by a real run, and watch its memory."""
    pages = TINY_PAGES if options.tiny else options.pages
    with closing(Database(bench.database)) as db:
        payload = json.dumps({"url": f"{base_url}/"})
        rows = ", ".join(f"({n}, 'load_context', '{payload}')" for n in range(1, pages + 1))
        db.run_statement("INSERT INTO work_queue (id, task, payload) VALUES " + rows)
        samples = list(_samples(bench, db, options.workers))
    found = Found(facts={"server": bench.version})
    last = max((done for done, _ in samples), default=0)
    if last < pages:
        raise RuntimeError(f"the run ended after {last} of {pages} pages")
    samples = at_work(samples, pages)
    late = median_around(samples, pages * (1 - 2 * AROUND), pages * AROUND)
    early = median_around(samples, pages * EARLY, pages * AROUND)
    found.rows.append(
        compared(
            f"memory of the tree, {options.workers} workers, after {pages:,} pages",
            f"after {int(pages * EARLY):,} pages", [late], [early], at_most(1.1), unit="MB",
        )
    )  # fmt: skip
    every = max(1, len(samples) // PLOT_POINTS)
    points = [(float(done), megabytes) for done, megabytes in samples[::every]]
    found.plots["memory"] = Plot("Memory of the tree", "pages", "MB", {"all processes": points})
    return found


def at_work(samples: list[Sample], pages: int) -> list[Sample]:
    """Leave out the start, when no browser is up, and the end, when they are gone already.

    Otherwise a tree that has ended would count as one that needs little.
    """
    found = [sample for sample in samples if 0 < sample[0] < pages]
    if not found:
        raise RuntimeError("the run was over before its memory was read")
    return found


def median_around(samples: list[Sample], count: float, distance: float) -> float:
    """Take the median of the samples near a count, or the nearest one when none is so near."""
    near = [size for done, size in samples if abs(done - count) <= distance]
    return statistics.median(near) if near else min(samples, key=lambda s: abs(s[0] - count))[1]


def _samples(bench: Bench, db: Database, workers: int) -> Iterator[Sample]:
    deadline = time.monotonic() + DEADLINE_SECONDS
    launcher = subprocess.Popen(
        launched.command(bench, workers, "bench.pages_task", "--quiet"),
        env=launched.environment(bench),
    )
    try:
        while launcher.poll() is None and time.monotonic() < deadline:
            time.sleep(SAMPLE_SECONDS)
            family = [launcher.pid, *(stat.pid for stat in descendants(launcher.pid))]
            count = "SELECT COUNT(*) AS done FROM work_queue WHERE status = 'done'"
            yield int(db.run_statement(count)[0]["done"]), sum(map(_megabytes, family))
    finally:
        launched.stop(launcher)


def _megabytes(pid: int) -> float:
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return 0.0
    found = re.search(r"^Pss:\s*(\d+) kB", text, re.MULTILINE)
    return int(found[1]) / 1024 if found else 0.0


def main() -> int:
    """Measure; return the exit code."""
    parser = harness.parser("bench.memory", __doc__, seconds=300)
    parser.add_argument("--pages", type=int, default=PAGES, help="1000 is the shorter form")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = harness.read(parser)
    with private_bench() as bench, serving() as base_url:
        return harness.tell(measure(bench, base_url, options), options)


if __name__ == "__main__":
    sys.exit(main())
