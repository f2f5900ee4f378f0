"""Two hosts on one database, each with local profiles of its own, and two real launchers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.lifecycle.profiles.endings import title
from worker.profiles import store

ON_HOST = str(Path(__file__).with_name("on_host.py").relative_to(Path(__file__).parents[3]))

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives hosts names")


@pytest.fixture
def on(launch, tmp_path):
    """Run a command on a host: a name of its own, a state folder of its own."""

    def on(host: str, *arguments: object):
        folder = str(tmp_path / host)
        return launch(*arguments, program=(ON_HOST, host), NIGHTSHIFT_STATE_DIR=folder)

    return on


def hosts_of(database, jobs: list[int]) -> dict[int, str]:
    """Read on which host each job was done."""
    rows = database.run_statement(
        "SELECT q.id, r.host FROM work_queue q JOIN workers w ON w.id = q.incarnation "
        "JOIN runs r ON r.id = w.run_id WHERE q.status = 'done'"
    )
    return {row["id"]: row["host"] for row in rows if row["id"] in jobs}


@pytest.mark.timeout(240)
def test_each_host_does_the_jobs_of_its_own_profiles_and_leaves_the_others(
    on, database, queue, enqueue, tasks
):
    run = ("--workers", 1, "--tasks", tasks)
    for host, profile in (("night-1", "p1"), ("night-2", "p2")):
        assert on(host, "profiles", "add", profile).wait() == 0
        assert store.get(database, profile)["host"] == host
    theirs, ours = enqueue("log_in", "p1"), enqueue("log_in", "p2")

    alone = on("night-2", *run)

    assert alone.wait(60) == 11
    assert "profile p1 lives on night-1" in alone.output
    left = queue.get(theirs)
    assert (left["status"], left["attempts"]) == ("pending", 0)
    assert hosts_of(database, [theirs, ours]) == {ours: "night-2"}

    jobs = {enqueue("who_am_i", f"p{1 + number % 2}"): number % 2 for number in range(8)}
    both = [on("night-1", *run), on("night-2", *run)]
    codes = [launcher.wait(90) for launcher in both]

    # Whoever is done first leaves the other's to it.
    assert set(codes) <= {0, 11}
    expected = {job: ("night-1", "night-2")[number] for job, number in jobs.items()}
    assert hosts_of(database, list(jobs)) == expected
    assert title(queue, theirs) == "log in"
    assert {title(queue, job) for job in jobs} == {"welcome back"}


@pytest.mark.timeout(120)
def test_a_profile_that_is_handed_over_without_its_folder_goes_to_review(
    on, database, queue, enqueue, tasks, tmp_path
):
    run = ("--workers", 1, "--tasks", tasks)
    assert on("night-1", "profiles", "add", "p1").wait() == 0
    enqueue("log_in", "p1")
    assert on("night-1", *run).wait(60) == 0
    folder = Path(store.get(database, "p1")["folder"])
    kept = folder.rename(tmp_path / "kept")

    assert on("night-1", "profiles", "move", "p1", "--to-host", "night-2").wait() == 0
    job = enqueue("who_am_i", "p1")
    assert on("night-2", *run).wait(60) == 11

    profile = store.get(database, "p1")
    assert (profile["state"], profile["host"]) == ("review_required", "night-2")
    assert "is missing or empty on night-2" in profile["state_reason"]
    assert not folder.exists()
    # The copy arrives, and a person says so.
    kept.rename(folder)
    assert on("night-2", "profiles", "clear", "p1", "--reason", "copied").wait() == 0
    assert on("night-2", *run).wait(60) == 0
    assert title(queue, job) == "welcome back"
