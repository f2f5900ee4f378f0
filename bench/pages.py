"""`python -m bench.pages`: what isolation costs, against bare Playwright, one page, and Crawlee.

All sides load the same pages in as many processes, in short rounds that alternate, so that whatever
else the machine does falls on all. Nightshift's rounds go through its real queue.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

from bench import harness
from bench.crawlee import Crawlee, crawlee
from bench.crew import (
    CONTEXT,
    KEEPING,
    PAGE,
    RAW_CONTEXT,
    RAW_OUR_FLAGS,
    RAW_PAGE,
    WITHOUT,
    WITHOUT_TOO,
    Crew,
    Side,
    crew,
)
from bench.harness import Found, Plot, Row, Wanted, at_least
from bench.pages_site import serving
from bench.server import private_bench
from bench.turns import Figures, take_turns

WARM_UP_JOBS = 4
TINY_JOBS = 2
CRAWLEE = "Crawlee-python"
# Each job is of another site, so that a good page is due after every one of them.
A_SITE_EACH = "http://site-{n}.localhost:{port}/"
# Pages that all processes together load in a round, by the path.
PAGES = {"/": 24, "/slow": 12, A_SITE_EACH: 24}


@dataclass(frozen=True, slots=True)
class Ratio:
    """Two sides on one kind of site, and what is wanted of the second by the first."""

    name: str
    against: str
    ours: str
    wanted: Wanted | None
    note: str = ""


FLAGS = "the bare sides' browsers have Playwright's own flags, ours have the flags of any run"
OUR_FLAGS = "with our flags on the bare side too: what the flags are worth, nothing is wanted"
ORDINARY = (
    Ratio("context", RAW_CONTEXT.name, CONTEXT.name, at_least(0.97), FLAGS),
    Ratio("context", RAW_OUR_FLAGS.name, CONTEXT.name, None, OUR_FLAGS),
    Ratio("page", RAW_PAGE.name, PAGE.name, at_least(0.85)),
    Ratio("page", CRAWLEE, PAGE.name, at_least(2.0)),
    Ratio("context", CRAWLEE, CONTEXT.name, at_least(1.2)),
)
SLOW = (Ratio("context, 500 ms site", PAGE.name, CONTEXT.name, at_least(0.95)),)
GOOD = (
    # Within a worker's hundredth; it is earned in the other side's rounds as well.
    Ratio("good pages kept, a site each", WITHOUT.name, KEEPING.name, at_least(0.95)),
    # How far apart two equal sides are on this machine now; nothing is wanted of it.
    Ratio("no good pages, the same again", WITHOUT.name, WITHOUT_TOO.name, None),
)


@dataclass(frozen=True, slots=True)
class Scene:
    """The sides that take turns on one kind of site, and the ratios that are read off them."""

    name: str
    path: str
    sides: tuple[Side, ...]
    ratios: tuple[Ratio, ...]
    # How much of the time it gets, by the side of the others.
    weight: float
    has_crawlee: bool = False


SCENES = (
    Scene(
        "ordinary",
        "/",
        (RAW_CONTEXT, CONTEXT, RAW_OUR_FLAGS, RAW_PAGE, PAGE),
        ORDINARY,
        3.0,
        has_crawlee=True,
    ),
    Scene("contexts", "/", (RAW_CONTEXT, CONTEXT), ORDINARY[:1], 1.0),
    Scene("slow", "/slow", (PAGE, CONTEXT), SLOW, 1.0),
    Scene("good pages", A_SITE_EACH, (WITHOUT, KEEPING, WITHOUT_TOO), GOOD, 1.0),
)


class Course:
    """One crew, and a Crawlee beside it, for the scenes."""

    def __init__(
        self, crew: Crew, workers: int, crawlee: Crawlee | str, options: argparse.Namespace
    ) -> None:
        self._crew = crew
        self._workers = workers
        self._crawlee = crawlee
        self._options = options

    def run(self, scene: Scene, seconds: float) -> tuple[list[Row], Figures]:
        """Let the sides of a scene take turns; return its rows and pages per second by side."""
        jobs = TINY_JOBS if self._options.tiny else max(1, PAGES[scene.path] // self._workers)
        sides: dict[str, Callable[[], float]] = {}
        for side in scene.sides:
            sides[side.name] = partial(self._crew.rate, side, scene.path, jobs)
            self._crew.rate(side, scene.path, min(jobs, WARM_UP_JOBS))
        if scene.has_crawlee and isinstance(self._crawlee, Crawlee):
            sides[CRAWLEE] = partial(self._crawlee.rate, jobs * self._workers)
        rates = take_turns(sides, seconds=seconds, least=self._options.least)
        return [self._row(ratio, rates) for ratio in scene.ratios], rates

    def _row(self, ratio: Ratio, rates: Figures) -> Row:
        what = f"pages/s, {ratio.name}, {self._workers} workers"
        if ratio.against == CRAWLEE and isinstance(self._crawlee, str):
            return harness.missing(what, ratio.against, ratio.wanted, self._crawlee)
        return rates.row(
            what, ratio.against, ratio.ours, ratio.against, ratio.wanted, unit="pages/s",
            note=ratio.note,
        )  # fmt: skip


def measure(options: argparse.Namespace) -> Found:
    """Measure the scenes with one crew."""
    names = options.only.split(",")
    chosen = [scene for scene in SCENES if scene.name in names]
    weights = sum(scene.weight for scene in chosen)
    found = Found()
    with ExitStack() as stack:
        bench = stack.enter_context(private_bench())
        base_url = stack.enter_context(serving())
        crawling: Crawlee | str = "not asked for"
        if any(scene.has_crawlee for scene in chosen):
            crawling = stack.enter_context(crawlee(base_url, options.workers))
        hands = stack.enter_context(crew(bench, base_url, options.workers))
        course = Course(hands, options.workers, crawling, options)
        found.facts["server"] = bench.version
        for scene in chosen:
            rows, rates = course.run(scene, options.seconds * scene.weight / weights)
            found.rows += rows
            if scene.has_crawlee:
                title = f"Pages per second by mode, {options.workers} workers"
                bars = [(name, statistics.median(each)) for name, each in rates.items()]
                found.plots[f"pages-{options.workers}"] = Plot(title, "", "pages/s", {"": bars})
    return found


def main() -> int:
    """Measure; return the exit code."""
    parser = harness.parser("bench.pages", __doc__, seconds=150)
    every = ",".join(scene.name for scene in SCENES if scene.name != "contexts")
    parser.add_argument("--only", default=every, help="scenes, separated by commas")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = harness.read(parser)
    return harness.tell(measure(options), options)


if __name__ == "__main__":
    sys.exit(main())
