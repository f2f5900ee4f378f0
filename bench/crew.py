"""The processes that load pages for either side, and the queue of Nightshift's rounds."""

from __future__ import annotations

import json
import multiprocessing
import os
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection

from bench.pages_worker import PagesWorker
from bench.server import Bench
from worker.database.client import Database
from worker.queue import runs
from worker.settings import RunSettings

START_SECONDS = 120.0
ROUND_SECONDS = 300.0
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


class Crew:
    """The processes that load pages, and the queue that Nightshift's rounds take theirs from."""

    def __init__(
        self, db: Database, pipes: list[Connection], pids: list[int], base_url: str
    ) -> None:
        self._db = db
        self._pipes = pipes
        self._base_url = base_url
        self.pids = pids
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
        # A crew before this one has used the same ids.
        db.run_statement("TRUNCATE work_queue")
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
    pipes = [ours for ours, _ in ends]
    try:
        with closing(Database(bench.database)) as db:
            found = Crew(db, pipes, [process.pid or 0 for process in processes], base_url)
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
