"""`python -m bench.page_cpu`: processor time of a page, split by who uses it, for each mode.

The processes are told apart by their command lines. What renderers used that have ended is kept by
the process that waited for them, so it is counted as theirs and not lost.
"""

from __future__ import annotations

import argparse
import os
import sys
from functools import partial
from pathlib import Path

from bench import harness
from bench.crew import CONTEXT, PAGE, RAW_CONTEXT, RAW_PAGE, Crew, Side, crew
from bench.harness import Found, Plot
from bench.pages_site import serving
from bench.server import private_bench
from bench.turns import take_turns
from worker.database.private_server import PrivateServer
from worker.system.process_tree import descendants

MODES = (RAW_PAGE, PAGE, RAW_CONTEXT, CONTEXT)
CAUSES = ("worker", "driver", "browser", "renderer", "network and GPU", "database")
PAGES, TINY_PAGES = 10, 2
WARM_UP_PAGES = 2


class Meter:
    """Reads the processor time used so far, by cause, of a crew and its server."""

    def __init__(self, crew: Crew, server: int) -> None:
        self._crew = crew
        self._server = server

    def read(self) -> dict[str, float]:
        """Add up seconds by cause."""
        seconds = dict.fromkeys(CAUSES, 0.0)
        seconds["database"] = sum(_seconds(self._server))
        for worker in self._crew.pids:
            seconds["worker"] += _seconds(worker)[0]
            for stat in descendants(worker):
                cause, own, waited = _cause(stat.pid), *_seconds(stat.pid)
                seconds[cause] += own
                # A driver waits for browsers, a browser for what it has started.
                seconds["renderer" if cause == "browser" else cause] += waited
        return seconds


def _cause(pid: int) -> str:
    try:
        line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ")
    except OSError:
        return "renderer"
    if b"run-driver" in line:
        return "driver"
    for kind, cause in (
        (b"--type=renderer", "renderer"),
        (b"--type=zygote", "renderer"),
        (b"--type=", "network and GPU"),
    ):
        if kind in line:
            return cause
    return "browser"


def _seconds(pid: int) -> tuple[float, float]:
    """Read the seconds that a process has used, and those of children it has waited for."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0.0, 0.0
    times = [int(field) for field in fields.rpartition(")")[2].split()[11:15]]
    tick = os.sysconf("SC_CLK_TCK")
    return (times[0] + times[1]) / tick, (times[2] + times[3]) / tick


def measure(options: argparse.Namespace) -> Found:
    """Load pages in each mode by turns; what is wanted is nothing but to know."""
    pages = TINY_PAGES if options.tiny else PAGES
    costs: dict[str, list[dict[str, float]]] = {side.name: [] for side in MODES}
    with (
        private_bench() as bench,
        serving() as base_url,
        crew(bench, base_url, options.workers) as hands,
    ):
        found = Found(facts={"server": bench.version})
        pid = PrivateServer(bench.folder / "mysql").pid()
        assert pid is not None
        meter = Meter(hands, pid)

        def cost(side: Side) -> float:
            hands.rate(side, "/", min(WARM_UP_PAGES, pages))
            before = meter.read()
            hands.rate(side, "/", pages)
            used = {cause: now - before[cause] for cause, now in meter.read().items()}
            costs[side.name].append(used)
            return 1000 * sum(used.values()) / (pages * int(options.workers))

        sides = {side.name: partial(cost, side) for side in MODES}
        figures = take_turns(sides, seconds=options.seconds, least=options.least)
        for name, why in figures.lost.items():
            found.rows.append(harness.missing(f"CPU of a page, {name}", "–", None, why))
            del costs[name]
        _add(found, costs, pages * options.workers)
        return found


def _add(found: Found, costs: dict[str, list[dict[str, float]]], pages: int) -> None:
    lines: dict[str, list[tuple[float | str, float]]] = {cause: [] for cause in CAUSES}
    for mode, rounds in costs.items():
        mean = {
            cause: 1000 * sum(c[cause] for c in rounds) / len(rounds) / pages for cause in CAUSES
        }
        totals = [1000 * sum(counts.values()) / pages for counts in rounds]
        split = ", ".join(f"{cause} {ms:.1f}" for cause, ms in mean.items())
        note = f"{mode}, CPU of a page in ms: {split}"
        found.rows.append(
            harness.alone(f"CPU of a page, {mode}", totals, None, unit="ms", note=note)
        )
        for cause in CAUSES:
            lines[cause].append((mode, mean[cause]))
    found.plots["page-cpu"] = Plot("Processor time of a page by cause", "", "ms", lines)


def main() -> int:
    """Measure; return the exit code."""
    parser = harness.parser("bench.page_cpu", __doc__, seconds=50)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = harness.read(parser)
    return harness.tell(measure(options), options)


if __name__ == "__main__":
    sys.exit(main())
