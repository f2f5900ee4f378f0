"""`python -m bench.pages`: what isolation costs, as a share of bare Playwright or of a shared page.

Both sides load the same pages in the same processes, one a core, in short rounds that alternate, so
that whatever else the machine does falls on both. Nightshift's rounds go through its real queue.
A missed threshold is exit code 1.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

from bench import share_table
from bench.pages_site import serving
from bench.pages_worker import PagesWorker
from bench.server import Bench, private_bench
from worker.database.client import Database
from worker.queue import runs
from worker.settings import RunSettings

START_SECONDS = 60.0
ROUND_SECONDS = 300.0
WARM_UP_JOBS = 4
NEVER = 10**9

_INSERT = "INSERT INTO work_queue (id, task, payload) VALUES "


@dataclass(frozen=True, slots=True)
class Side:
    """Who loads the pages: a bare loop, or Nightshift with a task."""

    name: str
    runner: str
    task: str = ""


RAW_CONTEXT = Side("bare, a context each", "raw context")
RAW_PAGE = Side("bare, one page", "raw page")
CONTEXT = Side("isolation=context", "nightshift", "load_context")
PAGE = Side("isolation=page", "nightshift", "load_page")
WITHOUT = Side("no good pages", "nightshift without good pages", "load_context")
WITHOUT_TOO = Side("no good pages either", "nightshift without good pages", "load_context")
KEEPING = Side("good pages kept", "nightshift", "load_context")
# Each job is of another site, so that a good page is due after every one of them.
A_SITE_EACH = "http://site-{n}.localhost:{port}/"


@dataclass(frozen=True, slots=True)
class Scenario:
    """Two sides on one kind of site, and the share of the first that the second must reach."""

    name: str
    against: Side
    ours: Side
    path: str
    jobs: int
    threshold: float


SCENARIOS = (
    Scenario("context / bare contexts", RAW_CONTEXT, CONTEXT, "/", 20, 0.95),
    Scenario("page / bare page", RAW_PAGE, PAGE, "/", 30, 0.85),
    Scenario("context / page, 500 ms site", PAGE, CONTEXT, "/slow", 6, 0.95),
    # Within a worker's hundredth; it is earned in the other side's rounds as well.
    Scenario("good pages kept / not, a site each", WITHOUT, KEEPING, A_SITE_EACH, 30, 0.95),
    # How far apart two equal sides are on this machine now; nothing is wanted of it.
    Scenario("no good pages / the same again", WITHOUT, WITHOUT_TOO, A_SITE_EACH, 30, 0.0),
)


@dataclass(slots=True)
class Outcome:
    """What one scenario came to: pages per second of each side, round by round."""

    scenario: Scenario
    pairs: list[tuple[float, float]] = field(default_factory=list)

    @property
    def shares(self) -> list[float]:
        return [ours / against for against, ours in self.pairs]

    @property
    def is_met(self) -> bool:
        return statistics.median(self.shares) >= self.scenario.threshold

    def as_json(self) -> dict[str, Any]:
        return {
            "scenario": self.scenario.name,
            "rounds": [{"against": against, "ours": ours} for against, ours in self.pairs],
            "median": statistics.median(self.shares),
            "min": min(self.shares),
            "max": max(self.shares),
            "threshold": self.scenario.threshold,
            "met": self.is_met,
        }


class Crew:
    """The processes that load pages, and the queue that Nightshift's rounds take theirs from."""

    def __init__(self, db: Database, pipes: list[Connection], base_url: str) -> None:
        self._db = db
        self._pipes = pipes
        self._base_url = base_url
        self._rounds = 0

    def rate(self, side: Side, path: str, jobs: int) -> float:
        """Have every process load that many pages; return pages per second of all together."""
        port = self._base_url.rpartition(":")[2]
        url = path.replace("{port}", port) if "{port}" in path else self._base_url + path
        if side.task:
            self.enqueue(side.task, url, jobs)
        began = time.monotonic()
        for pipe in self._pipes:
            pipe.send((side.runner, jobs, url))
        self.hear_all(ROUND_SECONDS)
        return jobs * len(self._pipes) / (time.monotonic() - began)

    def enqueue(self, task: str, url: str, jobs: int) -> None:
        """Put in so many jobs for each process, by their ids' partition."""
        self._rounds += 1
        first = self._rounds * 1_000_000 * len(self._pipes)
        rows = (
            f"({number}, '{task}', '{json.dumps({'url': url.replace('{n}', str(number))})}')"
            for number in range(first, first + jobs * len(self._pipes))
        )
        self._db.run_statement(_INSERT + ", ".join(rows))

    def hear_all(self, seconds: float) -> None:
        """Wait until every process has answered; raises RuntimeError when one does not."""
        for pipe in self._pipes:
            if not pipe.poll(seconds):
                raise RuntimeError(f"a process of the measurement was silent for {seconds:g} s")
            try:
                pipe.recv()
            except EOFError:
                raise RuntimeError("a process of the measurement failed; see above") from None


@contextmanager
def crew(bench: Bench, base_url: str, workers: int) -> Iterator[Crew]:
    """Have the processes and their browsers up meanwhile."""
    settings = _settings(bench, workers)
    with closing(Database(bench.database)) as db:
        run_id = runs.start_run(db, settings, os.getpid())
    context = multiprocessing.get_context("fork")
    ends = [context.Pipe() for _ in range(workers)]

    def work(slot: int) -> None:
        for other, (ours, theirs) in enumerate(ends):
            ours.close()
            if other != slot:
                theirs.close()
        PagesWorker(settings, run_id, slot).serve(ends[slot][1])

    processes = [context.Process(target=work, args=(slot,)) for slot in range(workers)]
    for process in processes:
        process.start()
    for _, theirs in ends:
        theirs.close()
    try:
        with closing(Database(bench.database)) as db:
            found = Crew(db, [ours for ours, _ in ends], base_url)
            found.enqueue("note_browser", base_url, 1)
            found.hear_all(START_SECONDS)
            yield found
    finally:
        for process in processes:
            process.kill()
            process.join()


def _settings(bench: Bench, workers: int) -> RunSettings:
    return RunSettings(
        database=bench.database,
        workers=workers,
        total=workers,
        help_others=False,
        # The bare side's browser is of the same driver, which must not be replaced.
        recycle_jobs=NEVER,
        recycle_mb=NEVER,
        errors_dir=bench.folder / "errors",
        state_dir=bench.folder / "state",
        tasks=("bench.pages_task",),
    )


def measure(crew: Crew, scenario: Scenario, rounds: int) -> Outcome:
    """Run pairs of rounds, each in the other order than the last."""
    outcome = Outcome(scenario)
    for side in (scenario.against, scenario.ours):
        crew.rate(side, scenario.path, WARM_UP_JOBS)
    for number in range(rounds):
        order = [scenario.against, scenario.ours]
        if number % 2:
            order.reverse()
        rates = {side.name: crew.rate(side, scenario.path, scenario.jobs) for side in order}
        against, ours = rates[scenario.against.name], rates[scenario.ours.name]
        outcome.pairs.append((against, ours))
        print(
            f"{scenario.name}, pair {number + 1}: {scenario.against.name} {against:.1f}/s, "
            f"{scenario.ours.name} {ours:.1f}/s, share {ours / against:.2f}",
            file=sys.stderr,
            flush=True,
        )
    return outcome


def render(outcomes: list[Outcome], workers: int) -> str:
    """Lay the outcomes out as a table."""
    lines = [
        f"pages per second, {workers} workers",
        share_table.header(36, "against"),
    ]
    for outcome in outcomes:
        scenario = outcome.scenario
        lines.append(
            share_table.line(scenario.name, 36, outcome.pairs, scenario.threshold, digits=1)
        )
    return "\n".join(lines)


def main() -> int:
    """Measure every scenario with one crew; return the exit code."""
    parser = argparse.ArgumentParser(prog="bench.pages", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--no-check", action="store_true", help="exit 0 whatever the shares are")
    parser.add_argument("--rounds", type=int, default=7, help="pairs of rounds for a scenario")
    parser.add_argument("--only", default="", help="only scenarios with this in their name")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    with (
        private_bench() as bench,
        serving() as base_url,
        crew(bench, base_url, options.workers) as found,
    ):
        chosen = [each for each in SCENARIOS if options.only in each.name]
        outcomes = [measure(found, scenario, options.rounds) for scenario in chosen]
    if options.json:
        print(json.dumps({"scenarios": [outcome.as_json() for outcome in outcomes]}))
    else:
        print(render(outcomes, options.workers))
    return 0 if options.no_check or all(outcome.is_met for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
