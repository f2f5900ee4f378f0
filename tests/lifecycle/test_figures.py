"""Figures of real runs: what the roll-ups say is what the tasks themselves have noted.

Runs are killed on the way, and the next one goes on counting where the last one stopped.
"""

from __future__ import annotations

import signal
from datetime import timedelta

import pytest

from tests.lifecycle.conftest import processes_of, wait_until
from worker.models import Outcome
from worker.queue import events
from worker.reporting import figures
from worker.reporting.events import Kind, between

NOOPS, RETRIED, HELD = 12, 4, 2


@pytest.fixture
def let_time_pass(database):
    """Let all that has ended be ten minutes old, and the figures be counted anew."""

    def let_time_pass():
        times = ("ready_at", "started_at", "finished_at")
        for table, columns in (("work_queue", ("created_at", *times)), ("job_attempts", times)):
            earlier = ", ".join(f"{name} = {name} - INTERVAL 10 MINUTE" for name in columns)
            database.run_statement(f"UPDATE {table} SET {earlier} WHERE finished_at IS NOT NULL")
        # A new fence: what a heart is about to write belongs to the time before. The lease of a run
        # that was killed is over by then.
        database.run_statement(
            "UPDATE rollup_writer SET fence = fence + 1, lease_until = UTC_TIMESTAMP(6), "
            "counted_until = NULL, settled_until = NULL, hours_until = NULL, days_until = NULL"
        )
        database.run_statement("DELETE FROM task_rollups")
        database.run_statement("DELETE FROM worker_rollups")

    return let_time_pass


def rolled_up(database):
    """Count the attempts in the tables themselves, by outcome."""
    rows = database.run_statement(
        "SELECT outcome, SUM(attempts) AS attempts FROM task_rollups WHERE span = 'minute' "
        "GROUP BY outcome"
    )
    return {row["outcome"]: int(row["attempts"]) for row in rows}


def killed(run, tmp_path):
    run.signal(signal.SIGKILL)
    run.wait()
    wait_until(lambda: not processes_of(tmp_path), "its whole family is gone", seconds=15)


def run_ids(database):
    return [row["id"] for row in database.run_statement("SELECT id FROM runs ORDER BY id")]


def assert_figures(database, done_by_run, finished):
    now = figures.state(database).now
    total = figures.totals(database, now - timedelta(hours=2), now)
    assert (total.done, total.recovered) == (finished, RETRIED + HELD)
    assert total.waits.total == total.attempts()
    by_run: dict[int, int] = {}
    for worker in figures.per_worker(database, now - timedelta(hours=2), now):
        by_run[worker.run_id] = by_run.get(worker.run_id, 0) + worker.figures.done
        if worker.run_id == min(done_by_run):
            assert worker.figures.attempts(Outcome.SWEPT) == 1
    assert by_run == done_by_run
    runs = between(database, now - timedelta(hours=2), now, (Kind.RUN,))
    assert [run.why for run in runs] == ["killed", "killed", ""]


def test_over_killed_runs_the_figures_are_what_the_tasks_have_noted(
    launch, database, queue, tasks, noted, let_go, tmp_path, let_time_pass
):
    for _ in range(NOOPS):
        queue.enqueue("noop", {})
    for _ in range(RETRIED):
        queue.enqueue("retried", {"succeeds_at": 2, "after": 0})
    first = launch("--workers", 2, "--tasks", tasks, "--follow")
    wait_until(lambda: queue.counts()["done"] == NOOPS + RETRIED, "they are done")
    for _ in range(HELD):
        queue.enqueue("held", {})
    wait_until(lambda: len(noted("begun")) == HELD, "both workers are at work")
    killed(first, tmp_path)

    second = launch("--workers", 2, "--tasks", tasks, "--follow")
    wait_until(lambda: len(noted("begun")) == 2 * HELD, "the held jobs are begun again")
    let_go()
    wait_until(lambda: queue.counts()["done"] == NOOPS + RETRIED + HELD, "all is done")
    let_time_pass()
    wanted = {"done": len(noted("finished")), "retry": RETRIED, "swept": HELD}
    wait_until(lambda: rolled_up(database) == wanted, "the heart has counted it")
    one, two = run_ids(database)
    assert f"run {two} on " in (figures.state(database).owner or "")
    killed(second, tmp_path)
    queue.enqueue("noop", {})
    third = launch("--workers", 1, "--tasks", tasks, "--follow")
    wait_until(lambda: queue.counts()["done"] == len(noted("finished")) > wanted["done"], "done")
    let_time_pass()
    wanted["done"] += 1
    wait_until(lambda: rolled_up(database) == wanted, "the third run has counted it")
    three = run_ids(database)[2]
    assert f"run {three} on " in (figures.state(database).owner or "")
    assert_figures(database, {one: NOOPS + RETRIED, two: HELD, three: 1}, len(noted("finished")))
    now = figures.state(database).now
    third.signal(signal.SIGTERM)
    assert third.wait() == 0
    assert figures.state(database).owner is None
    *_, last = between(database, now, now + timedelta(minutes=1), (Kind.RUN,))
    assert last.why == "stopped (SIGTERM)"


def test_a_worker_that_dies_is_told_with_why_and_its_restart(launch, database, queue, tasks):
    queue.enqueue("dying", {"signal": "SIGSEGV", "times": 1})
    queue.enqueue("noop", {})
    run = launch("--workers", 1, "--tasks", tasks)
    assert run.wait() == 0

    now = figures.state(database).now
    lives = between(database, now - timedelta(minutes=5), now, (Kind.WORKER,))

    assert [(life.restarts, life.why) for life in lives] == [
        (0, "killed by SIGSEGV"),
        (1, "finished"),
    ]
    assert events.EventKind.OUTAGE not in {
        event.kind for event in between(database, now - timedelta(minutes=5), now)
    }
