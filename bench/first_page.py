"""`python -m bench.first_page`: from the start of a run to every worker's first page, 6 workers.

Against six raw Playwright scripts that are started at once, each with a context and the same page.
The jobs lie ready, one in each worker's partition; nobody helps, so each does its own.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from contextlib import closing
from functools import partial
from pathlib import Path

from bench import first_page_task, harness, launched
from bench.harness import Found, at_most
from bench.jobs import SLOTS
from bench.pages_site import TITLE, serving
from bench.server import Bench, private_bench
from bench.turns import take_turns
from worker.browser.options import find_browser
from worker.database.client import Database

SCRIPT = Path(__file__).with_name("first_page_raw.py")
SECONDS = 120.0


def measure(bench: Bench, base_url: str, options: argparse.Namespace) -> Found:
    """Let both sides take turns."""
    with closing(Database(bench.database)) as db:
        ours = partial(_nightshift, bench, db, base_url)
        if not options.tiny:
            # So that neither side compiles what it imports.
            ours()
        sides = {"launcher.py run": ours, "scripts": partial(_scripts, base_url)}
        times = take_turns(sides, seconds=options.seconds, least=options.least)
    row = times.row(
        f"start to every worker's first page, {SLOTS} workers", "six raw Playwright scripts",
        "launcher.py run", "scripts", at_most(1.05), unit="s",
    )  # fmt: skip
    return Found([row], facts={"server": bench.version})


def _scripts(base_url: str) -> float:
    variables = {**os.environ, "BENCH_BROWSER": str(find_browser()), "BENCH_TITLE": TITLE}
    began = time.monotonic()
    scripts = [
        subprocess.Popen(
            [sys.executable, SCRIPT, base_url], env=variables, stdout=subprocess.PIPE, text=True
        )
        for _ in range(SLOTS)
    ]
    try:
        # The monotonic clock is the same for all processes of a machine.
        ends = [float(script.communicate(timeout=SECONDS)[0]) for script in scripts]
    finally:
        for script in scripts:
            script.kill()
            script.wait()
    return max(ends) - began


def _nightshift(bench: Bench, db: Database, base_url: str) -> float:
    ends = bench.folder / "first_pages"
    ends.write_text("", encoding="ascii")
    db.run_statement("TRUNCATE work_queue")
    db.run_statement(
        "INSERT INTO work_queue (id, task, payload) VALUES "
        + ", ".join(
            f"""({SLOTS + slot}, 'first_page', '{{"url": "{base_url}"}}')"""
            for slot in range(SLOTS)
        )
    )
    tasks = str(Path(first_page_task.__file__))
    environment = launched.environment(bench, **{first_page_task.VARIABLE: str(ends)})
    began = time.monotonic()
    subprocess.run(
        launched.command(bench, SLOTS, tasks, "--no-help", "--quiet"),
        env=environment, check=True, timeout=SECONDS,
    )  # fmt: skip
    times = [float(line) for line in ends.read_text(encoding="ascii").split()]
    if len(times) != SLOTS:
        raise RuntimeError(f"{len(times)} of {SLOTS} first pages were loaded")
    return max(times) - began


def main() -> int:
    """Measure on one server; return the exit code."""
    options = harness.read(harness.parser("bench.first_page", __doc__, seconds=60))
    with private_bench() as bench, serving() as base_url:
        return harness.tell(measure(bench, base_url, options), options)


if __name__ == "__main__":
    sys.exit(main())
