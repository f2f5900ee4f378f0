"""The processes that load pages for either side, and the queue of Nightshift's rounds."""

from __future__ import annotations

import json
import multiprocessing
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection

from bench.pages_worker import PagesWorker, RawWorker
from bench.server import Bench
from worker.database.client import Database
from worker.queue import runs
from worker.settings import RunSettings
from worker.supervisor.heart import Heart
from worker.supervisor.heart_link import HeartLink
from worker.system.board import Board

START_SECONDS = 120.0
ROUND_SECONDS = 300.0
HEART_SECONDS = 10.0

_INSERT = "INSERT INTO work_queue (id, task, payload) VALUES "


@dataclass(frozen=True, slots=True)
class Side:
    """Who loads the pages: a bare loop, or Nightshift with a task."""

    name: str
    runner: str
    task: str = ""


NIGHTSHIFT, RAW = "nightshift", "raw"

RAW_CONTEXT = Side("bare, a context each", "raw context")
RAW_OUR_FLAGS = Side("bare, a context each, our flags", "raw context, our flags")
RAW_PAGE = Side("bare, one page", "raw page")
CONTEXT = Side("isolation=context", NIGHTSHIFT, "load_context")
PAGE = Side("isolation=page", NIGHTSHIFT, "load_page")
WITHOUT = Side("no good pages", "nightshift without good pages", "load_context")
WITHOUT_TOO = Side("no good pages either", "nightshift without good pages", "load_context")
KEEPING = Side("good pages kept", NIGHTSHIFT, "load_context")


class Crew:
    """The processes that load pages, and the queue that Nightshift's rounds take theirs from."""

    def __init__(
        self, db: Database, pipes: dict[str, list[Connection]], pids: list[int], base_url: str
    ) -> None:
        self._db = db
        self._pipes = pipes
        self._base_url = base_url
        self.pids = pids

    def rate(self, side: Side, path: str, jobs: int) -> float:
        """Have every process load that many pages; return pages per second of all together."""
        port = self._base_url.rpartition(":")[2]
        url = path.replace("{port}", port) if "{port}" in path else self._base_url + path
        pipes = self._pipes[NIGHTSHIFT if side.task else RAW]
        if side.task:
            self.enqueue(side.task, url, jobs)
        began = time.monotonic()
        for pipe in pipes:
            pipe.send((side.runner, jobs, url))
        self.hear_all(pipes, ROUND_SECONDS)
        return jobs * len(pipes) / (time.monotonic() - began)

    def enqueue(self, task: str, url: str, jobs: int) -> None:
        """Put in so many jobs for each process, by their ids' partition, after all that were."""
        last = self._db.run_statement("SELECT COALESCE(MAX(id), 0) AS id FROM work_queue")[0]["id"]
        workers = len(self._pipes[NIGHTSHIFT])
        first = (int(last) // workers + 1) * workers
        rows = (
            f"({number}, '{task}', '{json.dumps({'url': url.replace('{n}', str(number))})}')"
            for number in range(first, first + jobs * workers)
        )
        self._db.run_statement(_INSERT + ", ".join(rows))

    def hear_all(self, pipes: Iterable[Connection], seconds: float) -> None:
        """Wait until every process has answered; raises RuntimeError when one does not."""
        for pipe in pipes:
            if not pipe.poll(seconds):
                raise RuntimeError(f"a process of the measurement was silent for {seconds:g} s")
            try:
                pipe.recv()
            except EOFError:
                raise RuntimeError("a process of the measurement failed; see above") from None


@contextmanager
def crew(bench: Bench, base_url: str, workers: int, *, has_raw: bool = True) -> Iterator[Crew]:
    """Have the processes, their browsers and a heart up meanwhile.

    Several crews may share a queue as long as one works at a time.
    """
    settings = _settings(bench, workers)
    board = Board(workers)
    with closing(Database(bench.database)) as db:
        run_id = runs.start_run(db, settings, os.getpid())

    def nightshift(slot: int, pipe: Connection) -> None:
        PagesWorker(settings, run_id, slot, board).serve(pipe)

    def raw(_: int, pipe: Connection) -> None:
        RawWorker(bench.folder / "raw").serve(pipe)

    with ExitStack() as stack:
        kinds = {NIGHTSHIFT: nightshift, RAW: raw} if has_raw else {NIGHTSHIFT: nightshift}
        pipes: dict[str, list[Connection]] = {}
        pids: list[int] = []
        for kind, work in kinds.items():
            started = [stack.enter_context(_process(work, slot)) for slot in range(workers)]
            pipes[kind] = [pipe for pipe, _ in started]
            pids += [pid for _, pid in started]
        heart = HeartLink(lambda link: Heart(settings, board, run_id, link).main, 2)
        heart.start_if_dead()
        stack.callback(heart.stop, HEART_SECONDS)
        found = Crew(stack.enter_context(closing(Database(bench.database))), pipes, pids, base_url)
        found.enqueue("load_context", f"{base_url}/", 1)
        for each in pipes.values():
            found.hear_all(each, START_SECONDS)
        yield found


@contextmanager
def _process(
    work: Callable[[int, Connection], None], slot: int
) -> Iterator[tuple[Connection, int]]:
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()

    def main() -> None:
        # Who comes later has the other end too, so nobody goes by its being closed.
        ours.close()
        work(slot, theirs)

    process = context.Process(target=main)
    process.start()
    theirs.close()
    try:
        yield ours, process.pid or 0
    finally:
        process.kill()
        process.join()


def _settings(bench: Bench, workers: int) -> RunSettings:
    return RunSettings(
        database=bench.database,
        workers=workers,
        total=workers,
        help_others=False,
        errors_dir=bench.folder / "errors",
        state_dir=bench.folder / "state",
        tasks=("bench.pages_task",),
    )
