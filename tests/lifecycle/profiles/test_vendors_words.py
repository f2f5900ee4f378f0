"""Whole runs with vendors that say: open elsewhere, still downloading, or stop it by this name."""

from __future__ import annotations

import pytest

from tests.browser.vendor_dialects import DIALECTS
from tests.browser.vendor_server import API_KEY, VendorServer
from tests.lifecycle.conftest import run_command, url_of, wait_until
from tests.lifecycle.pool import worker_of
from tests.lifecycle.profiles.endings import title
from worker.profiles import store
from worker.system.process_tree import kill

pytestmark = pytest.mark.timeout(150)


@pytest.fixture
def vendor(tmp_path):
    servers = []

    def start(name: str) -> VendorServer:
        servers.append(VendorServer(DIALECTS[name], tmp_path / "vendor"))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def test_jobs_of_a_profile_that_is_open_elsewhere_wait_and_spend_no_attempt(
    launch, database, queue, settings, add, enqueue, tasks, tmp_path, vendor
):
    server = vendor("adspower")
    server.locked = True
    add("p1", provider="adspower", vendor_id="v-1", endpoint=server.url)
    jobs = [enqueue("who_am_i", "p1") for _ in range(3)]

    run = launch("--workers", 2, "--tasks", tasks, "--wait-retries", "5s")

    assert run.wait(90) == 11
    assert [(queue.get(job)["status"], queue.get(job)["attempts"]) for job in jobs] == [
        ("pending", 0)
    ] * 3
    assert (server.count("start"), server.count("stop")) == (1, 0)
    assert store.get(database, "p1")["state"] == "available"
    said = run_command(tmp_path, "why", jobs[1], DATABASE_URL=url_of(settings)).stdout
    assert "is open elsewhere: The profile is being used by [" in said


def test_a_slow_start_is_not_taken_off_the_time_of_the_job(
    launch, queue, add, enqueue, tasks, vendor
):
    server = vendor("gologin")
    server.answer_seconds = 4.0
    add("p1", provider="gologin", vendor_id="v-1", endpoint=server.url)
    job = enqueue("who_am_i", "p1")

    run = launch("--workers", 1, "--tasks", tasks, "--job-timeout", "3s", "--hang-grace", "0s")

    assert run.wait(90) == 0
    assert title(queue, job) == "log in"
    assert queue.get(job)["attempts"] == 1


def test_the_session_of_a_killed_worker_is_stopped_by_the_name_that_was_kept(
    launch, database, queue, add, enqueue, tasks, tmp_path, vendor
):
    server = vendor("browserbase")
    add("p1", provider="browserbase", vendor_id="context-1", endpoint=server.url)
    job = enqueue("held_there", "p1", step="logged in")
    run = launch("--workers", 1, "--tasks", tasks, NIGHTSHIFT_BROWSERBASE_API_KEY=API_KEY)
    wait_until((tmp_path / f"begun-{job}-1").exists, "the job is at work", 60)
    assert store.get(database, "p1")["vendor_session"] == "session-1"

    kill(worker_of(database, job))
    (tmp_path / "go").touch()

    assert run.wait(90) == 0
    assert queue.get(job)["status"] == "done"
    # It was stopped before anything was started again, and the name is not used any more.
    assert server.calls.index("stop") < len(server.calls) - server.calls[::-1].index("start") - 1
    assert server.sessions["session-1"].name == "stopped"
    assert store.get(database, "p1")["vendor_session"] is None
    assert API_KEY not in run.output
