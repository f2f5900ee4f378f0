"""Nightshift's side: real queue, candidates, performer and heart; only the browser stays closed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from bench import noop
from bench.race import Work
from bench.server import Bench
from worker.browser.options import BrowserOptions
from worker.browser.session import BrowserSession
from worker.claiming.candidates import Candidates
from worker.claiming.closed_keys import ClosedKeys
from worker.claiming.gate import Gate
from worker.database.client import Database
from worker.execution.executor import Executor
from worker.execution.proxy_use import ProxyUse
from worker.execution.stop_request import StopRequest
from worker.models import Owner, Partition
from worker.queue import runs
from worker.queue.claims import Queue
from worker.queue.outcome_writer import OutcomeWriter
from worker.settings import RunSettings
from worker.supervisor.heart import Heart
from worker.supervisor.heart_link import HeartLink
from worker.system.board import Board
from worker.tasks import registry

HEART_SECONDS = 10.0


def _nothing() -> None:
    return None


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
            lambda link: Heart(self._settings, self._board, self._run_id, link, None).main, 2
        )
        heart.start()
        try:
            yield
        finally:
            heart.stop(HEART_SECONDS)

    def worker(self, slot: int, jobs: int) -> Work:
        """Build a worker as `worker.runner` does; return what claims and performs so many jobs."""
        settings, entry = self._settings, self._board.entries[slot]
        db = Database(settings.database, patience_seconds=float("inf"))
        queue = Queue(db, lease_seconds=settings.lease_seconds, max_attempts=settings.max_attempts)
        closures = ClosedKeys(db)
        candidates = Candidates(db, Partition(slot, settings.total), closures=closures)
        gate = Gate(db, queue, closures, canary_seconds=settings.job_timeout_seconds)
        owner = Owner(slot, runs.start_worker(db, self._run_id, slot))
        entry.clear()
        entry.incarnation = owner.incarnation
        session = BrowserSession(BrowserOptions(tmp_dir=settings.state_dir / f"tmp-{slot}"))
        performer = Executor(
            settings=settings,
            run_id=self._run_id,
            owner=owner,
            queue=queue,
            gate=gate,
            settler=OutcomeWriter(db, queue, settings.state_dir / "journal", owner.incarnation),
            registry=registry.load(settings.tasks),
            session=session,
            rotation=ProxyUse(db, session),
            entry=entry,
            stop=StopRequest(),
        )

        def work() -> None:
            while entry.done < jobs and candidates.has_next():
                claim = gate.claim(owner, candidates)
                while claim is not None:
                    following = candidates.at_hand if entry.done < jobs - 1 else _nothing
                    claim = performer.perform(claim, following)

        return work
