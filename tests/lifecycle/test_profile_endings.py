"""What a whole run makes of its jobs' profiles, and whom it blames for what failed."""

from __future__ import annotations

import json

import pytest

from worker.profiles import store
from worker.profiles.states import State
from worker.profiles.store import NewProfile

TASKS = """
from worker import Fail, task


@task("breaks", browser=False)
def breaks(page, payload, job):
    job.step(payload["step"])
    raise {"bug": KeyError, "on purpose": Fail}[payload["how"]]("price")


@task("looks", browser=False)
def looks(page, payload, job):
    job.needs_review("security prompt")


@task("works", browser=False)
def works(page, payload, job):
    return job.profile_id
"""


@pytest.fixture
def run(launch, tmp_path):
    (tmp_path / "own_tasks.py").write_text(TASKS)

    def run(code: int = 0) -> None:
        launcher = launch("--workers", 1, "--tasks", tmp_path / "own_tasks.py")
        assert launcher.wait() == code, launcher.output

    return run


@pytest.fixture
def add(database):
    def add(*names: str) -> None:
        store.add(database, [NewProfile(name) for name in names], "me")

    return add


def test_a_job_that_breaks_off_halfway_leaves_its_profile_for_review(
    run, queue, database, add, errors_dir
):
    cases = {
        "p1": ("submitting order", "bug", "review_required"),
        "p2": ("submitting order", "on purpose", "available"),
        "p3": ("logged in", "bug", "available"),
    }
    add(*cases)
    jobs = {
        name: queue.enqueue("breaks", {"step": step, "how": how, "manifest": {"profile": name}})
        for name, (step, how, _) in cases.items()
    }

    run()

    for name, (_, _, state) in cases.items():
        assert store.get(database, name)["state"] == state, name
    assert "that may be half done" in store.get(database, "p1")["state_reason"]
    report = json.loads((errors_dir / str(jobs["p1"]) / "1" / "error.json").read_text())
    assert (report["cause"], report["last_step"]) == ("code", "submitting order")


def test_what_an_ordinary_job_says_is_not_said_about_the_next_ones_profile(
    run, queue, database, add
):
    add("p1")
    queue.enqueue("breaks", {"step": "submitting order", "how": "bug"})
    queue.enqueue("looks", {})
    last = queue.enqueue("works", {"manifest": {"profile": "p1"}})

    run()

    assert json.loads(queue.get(last)["result"]) == "p1"
    assert store.get(database, "p1")["state"] == "available"


def test_a_job_whose_profile_does_not_exist_blames_the_profile(run, queue, errors_dir):
    job = queue.enqueue("works", {"manifest": {"profile": "nobody"}})

    run()

    (attempt,) = queue.history(job)
    assert (attempt["outcome"], attempt["cause"]) == ("error", "profile")
    assert "there is no profile nobody" in attempt["reason"]
    report = json.loads((errors_dir / str(job) / "1" / "error.json").read_text())
    assert report["cause"] == "profile"


def test_a_run_ends_although_a_profile_waits_for_a_person(run, queue, database):
    store.add(database, [NewProfile("p1", "ada"), NewProfile("p2", proxy="gone")], "me")
    store.set_state(database, "p1", State.QUARANTINED, reason="strange", by="me")
    wanted = ({"profile": "p1"}, {"profile": "p2"}, {"account": "ada"})
    waiting = [queue.enqueue("works", {"manifest": manifest}) for manifest in wanted]

    run(code=11)

    assert [queue.get(job)["status"] for job in waiting] == ["pending"] * 3
