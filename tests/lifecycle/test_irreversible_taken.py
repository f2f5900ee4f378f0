"""A job that took its irreversible step, went on and then broke off does not take it again.

Shows invariant 14: the orders are counted outside the queue, and nothing orders twice.
"""

from __future__ import annotations

import json
import shutil
from functools import partial
from pathlib import Path

import pytest

from tests.lifecycle.conftest import run_command, url_of

STEP = "placing order"
TAKEN = f"its step '{STEP}' was taken in an earlier attempt; not again without a person"


@pytest.fixture
def run(launch, tmp_path):
    """Run all there is, with a budget for nearly everything and no waiting."""
    tasks = Path(shutil.copy(Path(__file__).with_name("order_tasks.py"), tmp_path / "tasks.py"))
    generous = ("--max-attempts", 9, "--max-blocks", 9, "--retry-delay", 0)

    def run() -> None:
        assert launch("--workers", 1, "--tasks", tasks, *generous).wait(60) == 0

    return run


@pytest.fixture
def cli(settings, tmp_path):
    return partial(run_command, tmp_path, DATABASE_URL=url_of(settings))


@pytest.mark.parametrize("then", ["retry", "blocked", "dies"])
def test_it_is_taken_once_whatever_breaks_it_off_later(run, queue, noted, cli, errors_dir, then):
    job = queue.enqueue("orders_and_breaks_off", {"then": then})

    run()

    assert noted("ordered") == [(job, 1)]
    row, attempt = queue.get(job), queue.history(job)[-1]
    assert (row["status"], row["irreversible_step"], row["attempts"]) == ("error", STEP, 2)
    assert attempt["reason"] == f"may be half done at '{STEP}': {TAKEN}"
    report = json.loads((errors_dir / attempt["evidence"] / "error.json").read_text())
    assert (report["exception_type"], report["irreversible_step"]) == ("StepTaken", STEP)
    for command in (("why", job), ("show", job), ("todo",), ("errors",)):
        assert f"may be half done at '{STEP}'" in cli(*command).stdout
    assert f"taken     '{STEP}'; no later attempt takes that again" in cli("show", job).stdout
    run()
    assert noted("ordered") == [(job, 1)]


def test_a_person_may_have_it_taken_again_and_an_ordinary_retry_may_not(run, queue, noted, cli):
    job = queue.enqueue("orders_and_breaks_off", {"then": "bug"})
    run()
    assert (queue.get(job)["status"], queue.get(job)["irreversible_step"]) == ("error", None)

    assert cli("retry", "--id", job, "--yes").returncode == 0
    run()
    assert queue.get(job)["irreversible_step"] == STEP
    assert cli("retry", "--id", job, "--yes").returncode == 2
    assert noted("ordered") == [(job, 1)]

    assert cli("retry", "--id", job, "--yes", "--half-done").returncode == 0
    run()
    assert noted("ordered") == [(job, 1), (job, 3)]
    assert queue.get(job)["status"] == "done"


def test_one_attempt_may_take_steps_of_one_name(run, queue, noted):
    job = queue.enqueue("orders_and_breaks_off", {"then": "returns", "orders": 3})

    run()

    assert queue.get(job)["status"] == "done"
    assert noted("ordered") == [(job, 1)] * 3


def test_what_came_to_nothing_may_be_tried_again(run, queue, noted):
    job = queue.enqueue("orders_and_breaks_off", {"then": "retry", "undone": True})

    run()

    assert (queue.get(job)["status"], queue.get(job)["taken_steps"]) == ("done", None)
    assert noted("ordered") == [(job, 1), (job, 2), (job, 3)]
