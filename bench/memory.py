"""`python -m bench.memory`: memory of the whole tree after 2,000 pages, against after 200.

Launcher, heart, workers, drivers and browsers, by their proportional share of what they map; the
median of the samples around a count is taken: pages come and go. Six workers have pages open all
the time, so what launcher and heart need of a core for their upkeep is read off the same run.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from bench import harness, launched
from bench.harness import Found, Plot, Row, alone, at_most, below, compared
from bench.idle import cpu_seconds
from bench.jobs import SLOTS
from bench.pages_site import serving
from bench.server import Bench, private_bench
from worker.database.client import Database
from worker.system.process_tree import descendants

PAGES, TINY_PAGES = 2_000, 40
# The earlier count, and how far around both samples are taken, as shares of the pages.
EARLY, AROUND = 0.1, 0.02
# Reading the memory of fifty processes takes a while: not too often.
SAMPLE_SECONDS, TINY_SAMPLE_SECONDS = 2.0, 0.3
# How long each figure of the upkeep is of.
SPAN_SECONDS, TINY_SPAN_SECONDS = 30.0, 1.0
TINY_SECONDS = 120.0
PLOT_POINTS = 40

Sample = tuple[int, float]


def measure(bench: Bench, base_url: str, options: argparse.Namespace) -> Found:
    """Have the pages loaded by a real run, and watch it."""
    pages = TINY_PAGES if options.tiny else options.pages
    with closing(Database(bench.database)) as db:
        payload = json.dumps({"url": f"{base_url}/"})
        rows = ", ".join(f"({n}, 'load_context', '{payload}')" for n in range(1, pages + 1))
        db.run_statement("INSERT INTO work_queue (id, task, payload) VALUES " + rows)
        watch = Watch(bench, db, options)
        watch.run()
    found = Found(facts={"server": bench.version})
    samples, note = watch.samples, ""
    last = max((done for done, _ in samples), default=0)
    if last < pages:
        if not watch.is_out_of_time:
            raise RuntimeError(f"the run ended after {last} of {pages} pages")
        note = f"memory: the time was up after {last:,} of {pages:,} pages"
        pages = last
    samples = at_work(samples, pages)
    found.rows.append(_row(samples, pages, options.workers, note))
    found.rows.append(
        alone(
            f"CPU of launcher and heart, {options.workers} busy workers, a page each",
            watch.upkeep, below(2, "%"), unit="%",
        )
    )  # fmt: skip
    every = max(1, len(samples) // PLOT_POINTS)
    points = [(float(done), megabytes) for done, megabytes in samples[::every]]
    found.plots["memory"] = Plot("Memory of the tree", "pages", "MB", {"all processes": points})
    return found


def _row(samples: list[Sample], pages: int, workers: int, note: str) -> Row:
    late = median_around(samples, pages * (1 - 2 * AROUND), pages * AROUND)
    # Always the same count, also when there was no time for all pages.
    count = min(int(PAGES * EARLY), pages // 2) if pages > TINY_PAGES else int(pages * EARLY)
    early = median_around(samples, count, pages * AROUND)
    return compared(
        f"memory of the tree, {workers} workers, after {pages:,} pages",
        f"after {count:,} pages", [late], [early], at_most(1.1), unit="MB", note=note,
    )  # fmt: skip


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


@dataclass(slots=True)
class Watch:
    """Reads memory and processor time of a run, until it ends or the time is up."""

    bench: Bench
    db: Database
    options: argparse.Namespace
    samples: list[Sample] = field(default_factory=list)
    # In % of a core, of one span after the other.
    upkeep: list[float] = field(default_factory=list)
    is_out_of_time: bool = False
    # Launcher and heart, once all workers are there.
    _own: list[int] = field(default_factory=list)
    _mark: tuple[float, float] = (0.0, 0.0)

    def run(self) -> None:
        """Start the run and watch it."""
        tiny = self.options.tiny
        deadline = time.monotonic() + (TINY_SECONDS if tiny else self.options.seconds)
        launcher = subprocess.Popen(
            launched.command(self.bench, self.options.workers, "bench.pages_task", "--quiet"),
            env=launched.environment(self.bench),
        )
        try:
            while launcher.poll() is None and not self.is_out_of_time:
                time.sleep(TINY_SAMPLE_SECONDS if tiny else SAMPLE_SECONDS)
                self._look(launcher, TINY_SPAN_SECONDS if tiny else SPAN_SECONDS)
                self.is_out_of_time = time.monotonic() > deadline
        finally:
            launched.stop(launcher)

    def _look(self, launcher: subprocess.Popen[bytes], span: float) -> None:
        family = [launcher.pid, *(stat.pid for stat in descendants(launcher.pid))]
        # A page that went wrong has needed its memory as well.
        count = "SELECT COUNT(*) AS done FROM work_queue WHERE status IN ('done', 'error')"
        done = int(self.db.run_statement(count)[0]["done"])
        self.samples.append((done, sum(map(_megabytes, family))))
        try:
            self._look_at_upkeep(launcher, span, is_at_work=done > 0)
        except OSError:
            # It ends, or the heart did; then it is looked for again.
            self._own = []

    def _look_at_upkeep(
        self, launcher: subprocess.Popen[bytes], span: float, *, is_at_work: bool
    ) -> None:
        now = time.monotonic()
        if not self._own:
            workers = set(launched.living_workers(self.db, launcher).values())
            if is_at_work and len(workers) == self.options.workers:
                children = {s.pid for s in descendants(launcher.pid) if s.parent == launcher.pid}
                self._own = [launcher.pid, *(children - workers)]
                self._mark = now, cpu_seconds(self._own)
        elif now - self._mark[0] >= span:
            used = cpu_seconds(self._own)
            self.upkeep.append(100 * (used - self._mark[1]) / (now - self._mark[0]))
            self._mark = now, used


def _megabytes(pid: int) -> float:
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return 0.0
    found = re.search(r"^Pss:\s*(\d+) kB", text, re.MULTILINE)
    return int(found[1]) / 1024 if found else 0.0


def main() -> int:
    """Measure; return the exit code."""
    parser = harness.parser("bench.memory", __doc__, seconds=600)
    parser.add_argument("--pages", type=int, default=PAGES, help="1000 is the shorter form")
    parser.add_argument("--workers", type=int, default=SLOTS)
    options = harness.read(parser)
    with private_bench() as bench, serving() as base_url:
        return harness.tell(measure(bench, base_url, options), options)


if __name__ == "__main__":
    sys.exit(main())
