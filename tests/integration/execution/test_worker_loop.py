"""One worker's life: what it executes is settled, with its evidence on disk before that."""

from __future__ import annotations

import os
import time

import pytest

from tests.conftest import because
from worker.claiming import candidates
from worker.execution import proxy_use
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
from worker.errors import SiteFailed

@task("deep", browser=False)
def deep(page, payload, job):
    result = []
    for _ in range(150):
        result = [result]
    return result

@task("fine", browser=False)
def fine(page, payload, job):
    return {"is": "fine"}

@task("fails", browser=False)
def fails(page, payload, job):
    if payload["at"] == "site":
        raise SiteFailed("HTTP 500")
    raise KeyError("price")
"""


@pytest.fixture
def loop(database, settings, tmp_path):
    """A worker of the tasks above, at its own place, that is not running yet."""
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


@pytest.fixture
def patient(monkeypatch):
    """Let candidates be fresh for long: the evidence of a failure takes a busy machine a while."""
    monkeypatch.setattr(candidates, "MAX_AGE_SECONDS", 60.0)
    monkeypatch.setattr(proxy_use, "LOOK_SECONDS", 60.0)


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


def test_a_task_that_fails_by_itself_brings_the_next_job_with_it(loop, queue, tmp_path, patient):
    first, second = (queue.enqueue("fails", {"at": "task"}) for _ in range(2))

    following = claim_and_do(loop)

    assert following is not None
    assert (following.job_id, queue.get(second)["status"]) == (second, "in_progress")
    (attempt,) = queue.history(first)
    assert (queue.get(first)["status"], attempt["outcome"]) == ("error", "error")
    assert (tmp_path / "errors" / attempt["evidence"] / "error.json").exists()


def test_after_a_failure_of_a_site_the_next_job_is_claimed_when_its_breaker_was_told(
    loop, queue, patient
):
    first, second = (queue.enqueue("fails", {"at": "site"}) for _ in range(2))

    assert claim_and_do(loop) is None

    assert (queue.get(first)["status"], queue.get(second)["status"]) == ("pending", "pending")


def test_a_failure_that_somebody_listens_for_is_told_and_brings_no_job_with_it(
    loop, queue, database, patient
):
    first = queue.enqueue("fails", {"at": "task"}, callback_url="https://e.org/hook")
    queue.enqueue("fails", {"at": "task"})

    assert claim_and_do(loop) is None

    (news,) = database.run_statement("SELECT event, job_id FROM outbox")
    assert (news["event"], news["job_id"]) == ("job.error", first)


@pytest.mark.parametrize("counter", [{"attempts": 10**9}, {"fence": 10**18}])
@pytest.mark.parametrize(("task", "end"), [("fine", "done"), ("fails", "error")])
def test_a_job_that_nobody_can_claim_costs_the_one_before_nothing_and_ends_with_its_reason(
    loop, queue, database, patient, task, end, counter
):
    first, odd, last = (queue.enqueue(task, {"at": "task"}) for _ in range(3))
    ((name, value),) = counter.items()
    database.run_statement(f"UPDATE work_queue SET {name} = {value} WHERE id = {odd}")

    assert loop._work()

    assert [queue.get(job)["status"] for job in (first, odd, last)] == [end, "error", end]
    assert "cannot be stored" not in str(queue.get(first)["last_error"])
    assert "at the end of their range" in queue.get(odd)["last_error"]
    assert queue.get(odd)["finished_at"] is not None


def test_a_job_whose_crashes_cannot_grow_ends_by_its_next_crash(queue, database, claim_as):
    job = queue.enqueue("fine", {})
    database.run_statement("UPDATE work_queue SET crashes = 1000000000")

    status = queue.crash(claim_as(), because("killed its worker"), delay_seconds=0)

    assert (status, queue.get(job)["crashes"]) == ("error", 1_000_000_000)


def claim_and_do(loop):
    loop.look_at_proxies()
    return loop.do(loop.gate.claim(loop.owner, loop.candidates))
