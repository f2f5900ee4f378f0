"""`python -m bench.auto_workers`: `--workers auto` against the best fixed number of workers.

Real runs from start to end, on a site that keeps the processors busy and on one that takes 500 ms.
The best number is found first, by short runs with each; then both sides do the same pages by turns.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial

from bench import harness, launched
from bench.harness import Found, Plot, Row, at_most
from bench.numbers import have_numbers
from bench.pages_site import serving
from bench.server import Bench, private_bench
from bench.turns import take_turns
from worker.database.client import Database

CORES = os.cpu_count() or 1
MOST = 8 * CORES
WANTED = at_most(1.1)
# Of the time, by site, without the search: each side gets half of it.
SHARES = {"/": 0.2, "/slow": 0.8}
NAMES = {"/": "a site that keeps the processors busy", "/slow": "a site that takes 500 ms"}
FIXED = {"/": (CORES, 2 * CORES), "/slow": tuple(n * CORES for n in (2, 4, 6))}
# Pages of each worker in the search, and a run's pages when all is tiny.
SEARCH_PAGES, TINY_PAGES = 10, 12
RUN_SECONDS = 600.0


@dataclass(slots=True)
class Yard:
    """A queue of pages on one server, drained by one run after the other."""

    bench: Bench
    db: Database
    base_url: str
    # What runs with `auto` have settled on, by site.
    settled: dict[str, list[int]] = field(default_factory=dict)

    def run(self, path: str, workers: int | str, pages: int) -> float:
        """Drain so many pages with a new run; return how long that took, from start to end."""
        have_numbers(self.db, pages)
        self.db.run_statement("TRUNCATE work_queue")
        self.db.run_statement(
            "INSERT INTO work_queue (task, payload) "
            f"""SELECT 'load_context', '{{"url": "{self.base_url}{path}"}}' """
            f"FROM bench_numbers WHERE n < {pages}"
        )
        began = time.monotonic()
        done = subprocess.run(
            launched.command(self.bench, workers, "bench.pages_task", "--quiet", "--json"),
            env=launched.environment(self.bench), stdout=subprocess.PIPE, check=True,
            timeout=RUN_SECONDS,
        )  # fmt: skip
        took = time.monotonic() - began
        summary = json.loads(done.stdout)
        # One page in fifty may go wrong: the machine's network changed, say.
        if summary["done"] < 0.98 * pages:
            raise RuntimeError(f"{summary['done']} of {pages} pages are loaded")
        if (auto := summary["auto_workers"]) is not None:
            self.settled.setdefault(path, []).append(auto["number"])
        return took

    def rate(self) -> float:
        """Tell how many pages a second the last run loaded once its workers had begun."""
        row = self.db.run_statement(
            "SELECT COUNT(*) - 1 AS pages, TIMESTAMPDIFF(MICROSECOND, MIN(finished_at), "
            "MAX(finished_at)) / 1000000 AS seconds FROM work_queue"
        )[0]
        return int(row["pages"]) / float(row["seconds"])


def measure(bench: Bench, base_url: str, options: argparse.Namespace) -> Found:
    """Find the best fixed number for each site, then let both sides take turns."""
    found = Found(facts={"server": bench.version})
    with closing(Database(bench.database)) as db:
        yard = Yard(bench, db, base_url)
        for path, share in SHARES.items():
            rates = _rates(yard, path, tiny=options.tiny)
            best = max(rates, key=lambda number: rates[number])
            pages = TINY_PAGES
            if not options.tiny:
                pages = max(TINY_PAGES, int(rates[best] * options.seconds * share / 2))
            found.rows.append(_row(yard, path, best, pages))
            name = path.strip("/") or "busy"
            points = [(float(number), rate) for number, rate in rates.items()]
            found.plots[f"fixed-workers-{name}"] = Plot(
                f"Pages by a fixed number of workers: {NAMES[path]}", "workers", "pages/s",
                {"fixed": points},
            )  # fmt: skip
    return found


def _rates(yard: Yard, path: str, *, tiny: bool) -> dict[int, float]:
    rates = {}
    for workers in FIXED[path][: 1 if tiny else None]:
        yard.run(path, workers, TINY_PAGES if tiny else SEARCH_PAGES * workers)
        rates[workers] = yard.rate()
        harness.say(f"{NAMES[path]}: {workers} workers, {rates[workers]:.1f} pages/s")
    return rates


def _row(yard: Yard, path: str, best: int, pages: int) -> Row:
    sides: dict[str, Callable[[], float]] = {
        "auto": partial(yard.run, path, f"auto:{MOST}", pages),
        "fixed": partial(yard.run, path, best, pages),
    }
    # Both begin with a site each; there is no time for a second round.
    if path != "/":
        sides = dict(reversed(sides.items()))
    took = take_turns(sides, seconds=0.0, least=1)
    settled = ", ".join(map(str, yard.settled.get(path, [])))
    return took.row(
        f"makespan of {pages} pages with --workers auto, {NAMES[path]}",
        f"the best fixed number, {best}", "auto", "fixed", WANTED, unit="s",
        note=f"--workers auto, {NAMES[path]}: settled on {settled}; one round, {next(iter(sides))} "
        "first",
    )  # fmt: skip


def main() -> int:
    """Measure on one server; return the exit code."""
    options = harness.read(harness.parser("bench.auto_workers", __doc__, seconds=170))
    with private_bench() as bench, serving() as base_url:
        return harness.tell(measure(bench, base_url, options), options)


if __name__ == "__main__":
    sys.exit(main())
