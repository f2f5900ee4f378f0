"""However a task ends, its job has an outcome and the worker goes on: one bad job stops nobody."""

from __future__ import annotations

import json

import pytest

from worker.models import Cause, Ending, Outcome
from worker.queue import journal
from worker.recovery import journal_replay

TASKS = """
import sys
from worker.errors import Blocked, Retry
from worker.tasks.registry import task

class Mute(Exception):
    def __str__(self):
        raise ValueError("no words")

class Odd(Exception):
    def __str__(self):
        return 7

AFTER = {
    "nan": float("nan"), "inf": float("inf"), "huge": 10**400, "digits": 10**5000,
    "text": "soon", "negative": -5, "list": [1],
}

@task("ending", browser=False)
def ending(page, payload, job):
    way, what = payload["way"], payload.get("what")
    if way == "retry":
        raise Retry("later", after=AFTER[what])
    if way == "blocked":
        raise Blocked("no robots", after=AFTER[what])
    if way == "mute":
        raise Mute
    if way == "odd":
        raise Odd
    if way == "print":
        print("half \\ud83d of a character", file=getattr(sys, what))
    if way == "close":
        sys.stdout.close()
        sys.stderr.close()
    job.log.info("said in job %s", job.id)
    return {}
"""
AFTERS = ("nan", "inf", "huge", "digits", "text", "negative", "list")


@pytest.fixture
def ending_tasks(tmp_path):
    path = tmp_path / "ending_tasks.py"
    path.write_text(TASKS, encoding="utf-8")
    return path


def test_no_way_of_ending_a_task_stops_the_worker(launch, queue, ending_tasks):
    retried = [
        queue.enqueue("ending", {"way": "retry", "what": each}, max_attempts=1) for each in AFTERS
    ]
    refused = [
        queue.enqueue("ending", {"way": "blocked", "what": each}, max_attempts=1) for each in AFTERS
    ]
    raised = [queue.enqueue("ending", {"way": each}) for each in ("mute", "odd")]
    good = [
        queue.enqueue("ending", {"way": "print", "what": "stdout"}),
        queue.enqueue("ending", {"way": "print", "what": "stderr"}),
        queue.enqueue("ending", {"way": "close"}),
        queue.enqueue("ending", {"way": "well"}),
    ]

    run = launch("--workers", 1, "--tasks", ending_tasks, "--json")

    assert run.wait(90) == 0, run.output
    assert run.summary["crashes"] == 0
    assert [queue.get(job)["status"] for job in good] == ["done"] * 4
    for job in retried + refused:
        (attempt,) = queue.history(job)
        assert attempt["outcome"] in ("retry", "blocked"), attempt
        assert "cannot be stored" not in attempt["reason"]
    for job, name in zip(raised, ("Mute", "Odd"), strict=True):
        (attempt,) = queue.history(job)
        assert (attempt["outcome"], attempt["cause"]) == ("error", "code")
        assert f"{name}: it cannot say what it is" in attempt["reason"]
    assert "Logging error" not in run.stderr
    assert f"said in job {good[-1]}" in run.stderr


def test_an_outcome_that_no_server_takes_is_set_aside(database, queue, claim_as, tmp_path, caplog):
    job = queue.enqueue("visit", {})
    claim = claim_as()
    ending = Ending(Outcome.RETRY, "later", Cause.CODE, delay_seconds=float("nan"))
    kept = journal.write(tmp_path, 4711, claim, ending)

    assert journal_replay.replay(database, queue, tmp_path) == []

    assert not kept.exists()
    aside = kept.with_suffix(".refused")
    assert json.loads(aside.read_text(encoding="utf-8"))["claim"]["job_id"] == job
    assert f"the outcome of job {job} cannot be stored and is kept as {aside}" in caplog.text
    assert queue.get(job)["status"] == "in_progress"
