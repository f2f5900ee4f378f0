"""A job remembers the steps its task names, with their times, up to a bound."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from worker.errors import Fail
from worker.execution.task_call import as_json
from worker.tasks.job import MAX_RESULT_BYTES, MAX_STEPS, Job, follow_ups_of, result_of, steps_of


def test_the_latest_steps_are_kept_with_their_times():
    shown: list[str] = []
    job = Job(1, 1, 4, "visit", time.monotonic() + 60, Path("/nowhere"), _on_step=shown.append)
    for number in range(MAX_STEPS + 5):
        job.step(f"step {number}")

    assert job.last_step == shown[-1] == "step 54"
    assert [step["text"] for step in steps_of(job)] == [f"step {number}" for number in range(5, 55)]
    times = [datetime.fromisoformat(step["at"]) for step in steps_of(job)]
    assert times == sorted(times)
    assert 0 <= (datetime.now(UTC) - times[0]).total_seconds() < 60


def test_rows_that_no_result_could_hold_are_refused_at_once():
    job = new_job()
    for _ in range(9):
        job.push({"text": "x" * 100_000})

    with pytest.raises(Fail, match=r"job.push: with row 10 the result is over 1 MB"):
        job.push({"text": "x" * 100_000})
    assert len(result_of(job, None)) == 9
    assert len(as_json(result_of(job, None))) <= MAX_RESULT_BYTES


def new_job(**hooks) -> Job:
    return Job(1, 1, 4, "order", time.monotonic() + 60, Path("/nowhere"), **hooks)


def test_an_irreversible_step_is_kept_before_the_job_has_it():
    def refuse(text: str) -> None:
        raise RuntimeError(f"not now: {text}")

    job = new_job(_on_irreversible=refuse)
    job.step("logged in")

    with pytest.raises(RuntimeError, match="not now: placing order"):
        job.step("placing order", irreversible=True)

    assert job.last_step == "logged in"
    assert [step["text"] for step in steps_of(job)] == ["logged in"]


def test_each_kind_of_step_is_told_once():
    told: list[str] = []
    job = new_job(
        _on_step=lambda text: told.append(f"plain {text}"),
        _on_irreversible=lambda text: told.append(f"irreversible {text}"),
    )
    job.step("a")
    job.step("b", irreversible=True)
    job.step("c")

    assert told == ["plain a", "irreversible b", "plain c"]
    assert [step["text"] for step in steps_of(job)] == ["a", "b", "c"]


def test_a_step_that_says_that_nothing_came_of_one_is_told_as_such():
    told: list[str] = []
    job = new_job(_on_undone=told.append, _on_step=pytest.fail)
    job.step("declined", undone=True)

    assert (told, job.last_step) == (["declined"], "declined")
    with pytest.raises(ValueError, match="irreversible or undone, not both"):
        job.step("placing order", irreversible=True, undone=True)


@pytest.mark.parametrize("kind", [{}, {"irreversible": True}, {"undone": True}])
@pytest.mark.parametrize("text", ["", "  ", None, 7])
def test_a_step_of_any_kind_has_a_name_and_nothing_else_is_taken(text, kind):
    job = new_job(_on_step=pytest.fail, _on_irreversible=pytest.fail, _on_undone=pytest.fail)

    with pytest.raises(ValueError, match=r"job\.step\(.*\): name the step with a text"):
        job.step(text, **kind)
    assert (job.last_step, steps_of(job)) == (None, ())


def test_jobs_that_a_task_adds_are_kept_in_their_order():
    job = new_job()
    job.enqueue("visit", {"n": 1}, priority=2)
    job.enqueue_many([{"n": 2}, {"n": 3}], dedupe_key=lambda payload: str(payload["n"]))

    first, *rest = follow_ups_of(job)
    assert first == {"task": "visit", "payload": {"n": 1}, "dedupe_key": None, "priority": 2}
    assert [(each["task"], each["dedupe_key"]) for each in rest] == [("order", "2"), ("order", "3")]


def test_a_task_cannot_add_jobs_without_end(monkeypatch):
    monkeypatch.setattr("worker.tasks.job.MAX_FOLLOW_UPS", 3)

    with pytest.raises(Fail, match="more than 3 jobs at once"):
        new_job().enqueue_many({} for _ in range(10))


def test_a_task_may_fill_the_same_row_again():
    job, row = new_job(), {}
    for number in (1, 2):
        row["n"] = number
        job.push(row)

    assert result_of(job, None) == [{"n": 1}, {"n": 2}]


@pytest.mark.parametrize(
    ("returned", "result"),
    [
        (None, [{"a": 1}]),
        ([{"a": 2}], [{"a": 1}, {"a": 2}]),
        ({"page": 7}, {"page": 7, "rows": [{"a": 1}]}),
        ("seen", {"result": "seen", "rows": [{"a": 1}]}),
    ],
)
def test_pushed_rows_and_what_is_returned_are_one_result(returned, result):
    job = new_job()
    job.push({"a": 1})

    assert result_of(job, returned) == result
    assert result_of(new_job(), returned) == returned
