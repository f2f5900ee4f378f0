"""`python -m bench.page_growth`: pages per second from 1 to 12 workers, a context for each job.

Nothing is wanted of these rows but to show where more workers bring no more pages.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial

from bench import harness
from bench.crew import CONTEXT, crew
from bench.harness import Found, Plot
from bench.pages_site import serving
from bench.server import Bench, private_bench
from bench.turns import take_turns

WORKERS, TINY_WORKERS = (1, 2, 4, 8, 12), (1, 2)
# Pages of a round, of all workers together, and how many of each come before.
PAGES, TINY_PAGES, WARM_UP = 24, 4, 1
LEAST_ROUNDS = 2


def measure(bench: Bench, base_url: str, options: argparse.Namespace) -> Found:
    """Have crews of growing size up at once, which load pages by turns; the others stand still."""
    pages = TINY_PAGES if options.tiny else PAGES
    counts = TINY_WORKERS if options.tiny else WORKERS
    with ExitStack() as stack:
        sides: dict[str, Callable[[], float]] = {}
        for count in counts:
            hands = stack.enter_context(crew(bench, base_url, count, has_raw=False))
            hands.rate(CONTEXT, "/", WARM_UP)
            sides[str(count)] = partial(hands.rate, CONTEXT, "/", max(1, pages // count))
        rates = take_turns(sides, seconds=options.seconds, least=min(options.least, LEAST_ROUNDS))
    found = Found(facts={"server": bench.version})
    found.rows = [
        rates.row(
            f"pages/s, context, {count} workers", "one worker", str(count), "1", None,
            unit="pages/s",
        )
        for count in counts[1:]
    ]  # fmt: skip
    points = [(float(count), statistics.median(each)) for count, each in rates.items()]
    found.plots["page-workers"] = Plot("Pages by workers", "workers", "pages/s", {"pages": points})
    return found


def main() -> int:
    """Measure on one server; return the exit code."""
    options = harness.read(harness.parser("bench.page_growth", __doc__, seconds=70))
    with private_bench() as bench, serving() as base_url:
        return harness.tell(measure(bench, base_url, options), options)


if __name__ == "__main__":
    sys.exit(main())
