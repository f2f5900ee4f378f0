"""Which jobs are a run's own, and what is said of the others."""

from __future__ import annotations

from worker.claiming.scope import Scope, absence
from worker.models import Candidate


def job(task="price", queue="default"):
    return Candidate(
        1,
        "",
        0,
        0,
        None,
        task=task,
        payload="{}",
        timeout_seconds=None,
        was_done=False,
        queue=queue,
    )


def test_a_run_takes_jobs_of_its_queues_whose_tasks_it_knows():
    own = Scope(("default", "fast"), frozenset({"price"}))

    assert own.takes(job())
    assert own.takes(job(queue="fast"))
    assert not own.takes(job(queue="slow"))
    assert not own.takes(job("visti"))
    assert Scope().takes(job("visti", "slow"))


def test_conditions_are_named_only_for_what_is_limited():
    assert Scope().conditions() == ((), {})
    names, params = Scope(("a", "b"), frozenset({"price"})).conditions()
    assert names == ("of_own_queues", "of_known_tasks")
    assert params == {"own_queues": ("a", "b"), "known_tasks": ("price",)}


def test_a_job_that_some_run_takes_is_missed_by_nobody():
    live = [Scope(("a",), frozenset({"visit"})), Scope(("b",), None)]

    assert absence(live, job("anything", "b")) is None
    assert absence(live, job("visit", "a")) is None
    assert absence([], job("anything", "c")) is None


def test_a_queue_that_no_run_can_have_is_said_to_be_that():
    reason = absence([Scope(("a",), None)], job("visit", "$(touch /tmp/x)")).reason

    assert "no run can have the queue '$(touch /tmp/x)'" in reason
    assert "UPDATE work_queue SET queue = 'default'" in reason
    assert "launcher.py" not in reason


def test_what_is_missing_is_the_queue_or_the_task():
    live = [Scope(("a",), frozenset({"visit"}))]

    queue, task = absence(live, job("visit", "c")), absence(live, job("price", "a"))
    assert (queue.key, task.key) == ("queue:c", "task:price")
    assert "launcher.py --queue c" in queue.reason
    assert "no run at work has loaded a task named 'price'" in task.reason
