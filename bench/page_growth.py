"""`python -m bench.page_growth`: pages per second from 1 to 12 workers, a context for each job.

Nothing is wanted of these rows but to show where more workers bring no more pages.
"""

from __future__ import annotations

import argparse
import sys

from bench import harness
from bench.crew import CONTEXT, crew
from bench.harness import Found, Plot, compared
from bench.pages_site import serving
from bench.server import Bench, private_bench

WORKERS, TINY_WORKERS = (1, 2, 4, 8, 12), (1, 2)
# Pages of a round, of all workers together, and how many of each come before.
PAGES, TINY_PAGES, WARM_UP = 24, 4, 2
MOST_ROUNDS = 2


def measure(bench: Bench, base_url: str, options: argparse.Namespace) -> Found:
    """Have crews of growing size load pages, one crew after the other."""
    pages = TINY_PAGES if options.tiny else PAGES
    rates: dict[int, list[float]] = {}
    for workers in TINY_WORKERS if options.tiny else WORKERS:
        with crew(bench, base_url, workers) as hands:
            hands.rate(CONTEXT, "/", WARM_UP)
            each = max(1, pages // workers)
            rates[workers] = [
                hands.rate(CONTEXT, "/", each) for _ in range(min(options.least, MOST_ROUNDS))
            ]
        harness.say(f"{workers} workers: {max(rates[workers]):.1f} pages/s")
    found = Found(facts={"server": bench.version})
    found.rows = [
        compared(
            f"pages/s, context, {count} workers", "one worker", each, rates[1], None, unit="pages/s"
        )
        for count, each in rates.items()
        if count > 1
    ]
    points = [(float(count), sorted(each)[len(each) // 2]) for count, each in rates.items()]
    found.plots["page-workers"] = Plot("Pages by workers", "workers", "pages/s", {"pages": points})
    return found


def main() -> int:
    """Measure on one server; return the exit code."""
    options = harness.read(harness.parser("bench.page_growth", __doc__, seconds=70))
    with private_bench() as bench, serving() as base_url:
        return harness.tell(measure(bench, base_url, options), options)


if __name__ == "__main__":
    sys.exit(main())
