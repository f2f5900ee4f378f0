"""Nightshift's side: real queue, candidates, performer and heart; only the browser stays closed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from bench import noop
from bench.race import Work
from bench.server import Bench
from worker.database.client import Database
from worker.execution.stop_request import StopRequest
from worker.execution.worker_loop import WorkerLoop
from worker.queue import runs
from worker.settings import RunSettings
from worker.supervisor.heart import Heart
from worker.supervisor.heart_link import HeartLink
from worker.system.board import Board

HEART_SECONDS = 10.0


class Pool:
    """A run without its launcher: the board, the run's row, and what each worker does."""

    def __init__(self, bench: Bench, workers: int) -> None:
        self._settings = RunSettings(
            database=bench.database,
            workers=workers,
            total=workers,
            errors_dir=bench.folder / "errors",
            state_dir=bench.folder / "state",
            tasks=(str(Path(noop.__file__)),),
        )
        self._board = Board(workers)
        with closing(Database(bench.database)) as db:
            self._run_id = runs.start_run(db, self._settings, os.getpid())

    @contextmanager
    def beating(self) -> Iterator[None]:
        """Keep a heart running meanwhile."""
        heart = HeartLink(
            lambda link: Heart(self._settings, self._board, self._run_id, link).main, 2
        )
        heart.start_if_dead()
        try:
            yield
        finally:
            heart.stop(HEART_SECONDS)

    def loop(self, slot: int, stop: StopRequest) -> WorkerLoop:
        """Build a worker as a launcher would."""
        self._board.entries[slot].clear()
        return WorkerLoop(self._settings, self._run_id, slot, self._board, stop)

    def worker(
        self,
        slot: int,
        jobs: int,
        has_looked: bool = False,
        prepare: Callable[[WorkerLoop], None] = lambda _: None,
    ) -> Work:
        """Return what claims and ends that many jobs, after its first look if that is wanted."""
        entry, stop = self._board.entries[slot], StopRequest()
        loop = self.loop(slot, stop)
        prepare(loop)
        while has_looked and not loop.candidates.has_next():
            pass

        def work() -> None:
            while entry.done + entry.failed < jobs and loop.candidates.has_next():
                loop.look_at_proxies()
                found = loop.gate.claim(loop.owner, loop.candidates)
                while found is not None:
                    # The last job brings no other with it.
                    stop.is_stopping = entry.done + entry.failed >= jobs - 1
                    found = loop.do(found)

        return work
