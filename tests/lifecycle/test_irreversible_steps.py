"""A job that breaks off at an irreversible step ends there, for a person to look at.

Shows invariant 14: the orders are counted outside the queue, and nothing orders twice.
"""

from __future__ import annotations

import json
import shutil
import signal
from functools import partial
from pathlib import Path

import pytest

from tests.lifecycle.conftest import processes_of, run_command, url_of, wait_until
from tests.lifecycle.pool import worker_of
from worker.profiles import store
from worker.profiles.store import NewProfile
from worker.system.process_tree import kill

STEP = "placing order"
HALF_DONE = f"may be half done at '{STEP}': "


@pytest.fixture
def tasks(tmp_path) -> Path:
    return Path(shutil.copy(Path(__file__).with_name("order_tasks.py"), tmp_path / "tasks.py"))


@pytest.fixture
def start(launch, tasks):
    """Start a run that would try everything again, and at once."""
    generous = ("--max-attempts", 9, "--max-blocks", 9, "--retry-delay", 0)

    def start(*flags: object):
        return launch("--workers", 1, "--tasks", tasks, *generous, *flags)

    return start


@pytest.fixture
def cli(settings, tmp_path):
    return partial(run_command, tmp_path, DATABASE_URL=url_of(settings))


@pytest.fixture
def is_half_done(start, queue, noted, errors_dir):
    """Check that a job ended as half done, with evidence, and that another run leaves it so."""

    def check(job: int, because: str) -> None:
        row = queue.get(job)
        assert (row["status"], row["irreversible_step"]) == ("error", STEP)
        attempt = queue.history(job)[-1]
        assert attempt["reason"].startswith(HALF_DONE)
        assert because in attempt["reason"]
        assert row["last_error"].startswith(f"may be half done at '{STEP}'")
        assert attempt["last_step"] == STEP
        report = json.loads((errors_dir / attempt["evidence"] / "error.json").read_text())
        assert report["irreversible_step"] == STEP
        assert start().wait(60) == 0
        assert noted("ordered") == [(job, attempt["attempt"])]
        assert queue.get(job)["status"] == "error"

    return check


BROKEN_OFF = {
    "retry": "try me again",
    "fail": "declined",
    "blocked": "a captcha",
    "bug": "KeyError",
    "dies": "killed by SIGKILL",
    "leaves": "exited with code 0",
    "unspeakable": "not JSON",
    "too large": "result",
}


@pytest.mark.parametrize("then", BROKEN_OFF)
def test_whatever_breaks_it_off_it_is_not_tried_again(start, queue, is_half_done, then):
    job = queue.enqueue("order", {"then": then})

    assert start().wait(60) == 0

    is_half_done(job, BROKEN_OFF[then])


@pytest.mark.parametrize(
    ("then", "because"), [("hangs", "past its timeout of 2 s"), ("crashes", "crashed")]
)
def test_a_page_that_hangs_or_crashes_leaves_it_half_done(
    start, queue, is_half_done, then, because
):
    job = queue.enqueue("order_in_a_page", {"then": then}, timeout_seconds=2)

    assert start().wait(90) == 0

    is_half_done(job, because)


def test_a_worker_that_hangs_beyond_rescue_leaves_it_half_done(start, queue, is_half_done):
    job = queue.enqueue("order", {"then": "sleeps"}, timeout_seconds=1)

    assert start("--hang-grace", "1s").wait(60) == 0

    is_half_done(job, "past its timeout")


def test_a_killed_worker_does_not_order_again_through_the_accounts_other_profile(
    start, queue, database, noted, cli, is_half_done
):
    store.add(database, [NewProfile("p1", "ada"), NewProfile("p2", "ada")], "me")
    job = queue.enqueue("order", {"then": "held"}, account_id="ada")
    run = start()
    wait_until(lambda: noted("ordered"), "it is at its irreversible step")
    at_it = cli("why", job).stdout

    kill(worker_of(database, job))

    assert run.wait(60) == 0
    assert "at the irreversible step 'placing order'" in at_it
    is_half_done(job, "worker 0 died: killed by SIGKILL")
    (aside,) = [row for row in store.all_profiles(database) if row["state"] != "available"]
    assert aside["state"] == "quarantined"
    assert "'placing order', which is irreversible" in aside["state_reason"]


def test_a_killed_launcher_and_its_workers_leave_it_half_done(
    start, queue, noted, tmp_path, is_half_done
):
    job = queue.enqueue("order", {"then": "held"})
    run = start()
    wait_until(lambda: noted("ordered"), "it is at its irreversible step")

    run.signal(signal.SIGKILL)
    run.wait()
    wait_until(lambda: not processes_of(tmp_path), "its whole family is gone", seconds=15)

    assert start().wait(60) == 0
    is_half_done(job, "and its launcher (run 1) are gone")


@pytest.mark.parametrize("task", ["order", "order_in_a_page"])
def test_a_stop_that_does_not_wait_leaves_it_half_done(start, queue, noted, is_half_done, task):
    job = queue.enqueue(task, {"then": "held" if task == "order" else "hangs"})
    run = start("--grace", "1s")
    wait_until(lambda: noted("ordered"), "it is at its irreversible step")

    run.signal(signal.SIGTERM)

    assert run.wait(60) == 0
    is_half_done(job, "stop")


def test_a_stop_that_waits_lets_it_finish(start, queue, noted, let_go):
    job = queue.enqueue("order", {"then": "held"})
    run = start("--grace", "30s")
    wait_until(lambda: noted("ordered"), "it is at its irreversible step")

    run.signal(signal.SIGTERM)
    let_go()

    assert run.wait(60) == 0
    assert (queue.get(job)["status"], queue.get(job)["irreversible_step"]) == ("done", None)


@pytest.mark.parametrize("then", ["dies", "retry", "bug"])
def test_the_next_ordinary_step_ends_it(start, queue, noted, then):
    job = queue.enqueue("ordered_well", {"then": then})

    assert start().wait(60) == 0

    row = queue.get(job)
    # A bug is an error at once, as ever: but not a half-done one.
    assert row["status"] == ("error" if then == "bug" else "done")
    assert row["irreversible_step"] is None
    assert noted("ordered") == [(job, 1)]


def test_a_job_that_returns_at_its_irreversible_step_is_done(start, queue, noted):
    jobs = [queue.enqueue("order", {"then": "returns"}) for _ in range(3)]

    assert start().wait(60) == 0

    assert [queue.get(job)["status"] for job in jobs] == ["done"] * 3
    assert [queue.get(job)["irreversible_step"] for job in jobs] == [None] * 3
    assert noted("ordered") == [(job, 1) for job in jobs]


@pytest.mark.parametrize(
    ("task", "state"), [("guessed", "quarantined"), ("not_guessed", "available")]
)
def test_a_task_can_switch_the_guessing_by_words_off(start, queue, database, noted, task, state):
    store.add(database, [NewProfile("p1"), NewProfile("p2")], "me")
    queue.enqueue(task, {"then": "dies"}, profile_id="p1", max_attempts=1)
    queue.enqueue(task, {"then": "bug"}, profile_id="p2", max_attempts=1)

    assert start().wait(60) == 0

    wanted = {"quarantined": "review_required"}.get(state, state)
    assert store.get(database, "p2")["state"] == wanted
    # A dead worker's profile is checked by the next worker before it is available.
    assert store.get(database, "p1")["state"] in (state, "stale" if state == "available" else state)
    assert len(noted("ordered")) == 2
