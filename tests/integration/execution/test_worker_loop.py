"""One worker's life: what it executes is settled, with its evidence on disk before that."""

from __future__ import annotations

import os
import time

import pytest

from worker.execution.executor import Executor
from worker.execution.stop_request import StopRequest
from worker.execution.worker_loop import WorkerLoop
from worker.models import Outcome
from worker.queue import runs
from worker.queue.claims import Queue
from worker.settings import RunSettings
from worker.system.board import Board

# Any server refuses JSON that is nested deeper than a hundred times, and MariaDB before that.
DEEP = """
from nightshift import task

@task("deep", browser=False)
def deep(page, payload, job):
    result = []
    for _ in range(150):
        result = [result]
    return result
"""


@pytest.fixture
def loop(database, settings, tmp_path):
    """A worker of the task `deep`, at its own place, that is not running yet."""
    (tmp_path / "deep.py").write_text(DEEP)
    settings_of_run = RunSettings(
        database=settings,
        state_dir=tmp_path / "state",
        errors_dir=tmp_path / "errors",
        workers=1,
        tasks=(str(tmp_path / "deep.py"),),
    )
    board = Board(1)
    board.allotment.allot({0: 7}, 1)
    board.allotment.hold_until(time.monotonic() + 60)
    run_id = runs.start_run(database, settings_of_run, os.getpid())
    loop = WorkerLoop(settings_of_run, run_id, 0, board, StopRequest())
    yield loop
    loop._db.close()


def test_a_result_that_the_server_refuses_is_an_error_whose_evidence_was_there_before(
    loop, queue, tmp_path, monkeypatch
):
    job = queue.enqueue("deep", {})
    there = []
    end = Queue.end

    def watched(self, claim, ending, **options):
        there.append((ending.outcome, (tmp_path / "errors" / str(job) / "1").is_dir()))
        return end(self, claim, ending, **options)

    let_go = Executor.let_go

    def let_go_of(self, claim, ending, **options):
        there.append((ending.outcome, options["is_good"]))
        let_go(self, claim, ending, **options)

    monkeypatch.setattr(Queue, "end", watched)
    monkeypatch.setattr(Executor, "let_go", let_go_of)

    loop.do(loop.gate.claim(loop.owner, loop.candidates))

    # Its page and its site's breaker, too, are told that it failed.
    assert there == [(Outcome.DONE, False), (Outcome.ERROR, True), (Outcome.ERROR, False)]
    row = queue.get(job)
    (attempt,) = queue.history(job)
    assert (row["status"], attempt["cause"]) == ("error", "code")
    assert attempt["reason"].startswith("its result cannot be stored: ")
    assert (tmp_path / "errors" / attempt["evidence"] / "error.json").exists()
