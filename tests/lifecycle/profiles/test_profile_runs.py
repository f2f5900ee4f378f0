"""Profiles in real runs with real browsers: what they keep, and what becomes of them in a crash."""

from __future__ import annotations

import pytest

from tests.browser.vendor_dialects import DIALECTS
from tests.browser.vendor_server import VendorServer
from tests.lifecycle.conftest import run_command, url_of, wait_until
from tests.lifecycle.pool import worker_of
from tests.lifecycle.profiles.endings import events, title
from worker.browser.providers import profile_lock
from worker.profiles import store
from worker.system.process_tree import kill


@pytest.mark.timeout(120)
def test_a_log_in_is_kept_in_its_profile_across_runs(launch, queue, add, enqueue, tasks):
    add("p1")
    add("p2")
    first = enqueue("log_in", "p1")
    assert launch("--workers", 1, "--tasks", tasks).wait(60) == 0
    assert title(queue, first) == "log in"

    again, stranger = enqueue("who_am_i", "p1"), enqueue("who_am_i", "p2")
    assert launch("--workers", 1, "--tasks", tasks).wait(60) == 0

    assert title(queue, again) == "welcome back"
    assert title(queue, stranger) == "log in"


@pytest.mark.timeout(120)
def test_the_profile_of_a_killed_worker_is_checked_before_its_job_goes_on(
    launch, database, queue, add, enqueue, tasks, tmp_path
):
    folder = add("p1")
    job = enqueue("held_there", "p1", step="logged in")
    run = launch("--workers", 2, "--tasks", tasks)
    wait_until((tmp_path / f"begun-{job}-1").exists, "the job is at work", 40)
    before = profile_lock.browsers_using(folder)
    assert before

    kill(worker_of(database, job))
    wait_until((tmp_path / f"begun-{job}-2").exists, "the job is at work again", 40)
    assert not set(before) & set(profile_lock.browsers_using(folder))
    (tmp_path / "go").touch()

    assert run.wait(60) == 0
    assert title(queue, job) == "log in"
    assert events(database, "p1")[:5] == ["added", "leased", "stale", "checked", "leased"]
    assert store.get(database, "p1")["state"] == "available"


@pytest.mark.timeout(120)
def test_what_may_be_half_submitted_is_quarantined_and_its_job_waits(
    launch, database, queue, settings, add, enqueue, tasks, tmp_path
):
    folder = add("p1")
    job = enqueue("held_there", "p1", step="submitting order")
    run = launch("--workers", 1, "--tasks", tasks)
    wait_until((tmp_path / f"begun-{job}-1").exists, "the job is at work", 40)

    kill(worker_of(database, job))

    assert run.wait(60) == 11
    assert store.get(database, "p1")["state"] == "quarantined"
    assert not profile_lock.browsers_using(folder)
    assert events(database, "p1")[:4] == ["added", "leased", "stale", "doubted"]
    assert queue.get(job)["status"] == "pending"
    said = run_command(tmp_path, "why", job, DATABASE_URL=url_of(settings)).stdout
    assert "quarantined" in said
    assert "submitting order" in said


@pytest.mark.timeout(120)
def test_a_step_that_never_reached_the_database_is_read_off_the_board(
    launch, database, add, enqueue, tasks, tmp_path
):
    add("p1")
    job = enqueue("held_there", "p1", step="submitting order")
    run = launch("--workers", 1, "--tasks", tasks)
    wait_until((tmp_path / f"begun-{job}-1").exists, "the job is at work", 40)
    database.run_statement("UPDATE profile_leases SET last_step = NULL, last_url = NULL")

    kill(worker_of(database, job))

    assert run.wait(60) == 11
    assert store.get(database, "p1")["state"] == "quarantined"


@pytest.mark.timeout(120)
@pytest.mark.parametrize(("profile", "state"), [(None, "available"), ("p1", "review_required")])
def test_what_one_job_left_half_done_is_held_against_its_own_profile_alone(
    launch, database, queue, add, enqueue, tasks, profile, state
):
    add("p1")
    enqueue("breaking_off", profile)
    job = enqueue("who_am_i", "p1")

    held_back = 0 if profile is None else 11
    assert launch("--workers", 1, "--tasks", tasks).wait(60) == held_back

    assert store.get(database, "p1")["state"] == state
    assert queue.get(job)["status"] == ("done" if profile is None else "pending")


@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    ("step", "state"), [("logged in", "available"), ("submitting order", "quarantined")]
)
def test_a_vendor_is_told_to_stop_when_a_worker_was_killed(
    launch, database, queue, add, enqueue, tasks, tmp_path, step, state
):
    vendor = VendorServer(DIALECTS["gologin"], tmp_path / "vendor")
    try:
        add("p1", provider="gologin", vendor_id="v-1", endpoint=vendor.url)
        job = enqueue("held_there", "p1", step=step)
        run = launch("--workers", 1, "--tasks", tasks, "--follow")
        wait_until((tmp_path / f"begun-{job}-1").exists, "the job is at work", 40)
        assert vendor.is_running("v-1")

        kill(worker_of(database, job))
        (tmp_path / "go").touch()

        wait_until(lambda: vendor.count("stop") and not vendor.is_running("v-1"), "stopped", 40)
        wait_until(lambda: store.get(database, "p1")["state"] == state, state, 40)
        done = "done" if state == "available" else "pending"
        wait_until(lambda: queue.get(job)["status"] == done, f"the job is {done}", 40)
        run.signal(15)
        assert run.wait(60) == 0
        assert vendor.count("stop") >= vendor.count("start")
    finally:
        vendor.close()
