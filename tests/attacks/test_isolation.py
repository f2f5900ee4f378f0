"""What one job leaves in its browser, the next in the same worker does not find: invariant 11."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.attacks import isolation_tasks
from tests.attacks.isolation_site import IsolationSite
from worker.browser.options import BrowserOptions, find_browser
from worker.browser.session import BrowserSession
from worker.execution.task_call import run_task
from worker.tasks import registry
from worker.tasks.job import Job

QUIET_SECONDS = 0.5
ISOLATIONS = ("context", "page", "worker")
# How many jobs look. Two pages take turns with "page": the second to look has the one left behind.
# With "worker" it would find what the first one of its task has left, as it should.
LOOKS = {"context": 2, "page": 2, "worker": 1}


@pytest.fixture(scope="module")
def site() -> Iterator[IsolationSite]:
    with IsolationSite().serving() as site:
        yield site


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserSession]:
    folder = tmp_path_factory.mktemp("browser") / "worker-0"
    session = BrowserSession(
        BrowserOptions(tmp_dir=folder, executable=find_browser(), page_timeout_seconds=10)
    )
    session.open()
    yield session
    session.close()


@pytest.fixture
def do(session: BrowserSession, site: IsolationSite, tmp_path: Path):
    """Do a job as a worker does, from page to release; return its result."""
    tasks = registry.load([str(Path(isolation_tasks.__file__))])
    site.reset()

    def do(name: str, account: str | None = None):
        job = Job(
            id=1,
            attempt=1,
            max_attempts=1,
            task=name,
            deadline=time.monotonic() + 30,
            results_dir=tmp_path,
            account_id=account,
        )
        payload = {"url": site.url, "then": "well"}
        text = run_task(session, tasks.get(name), payload, job)
        session.release(clean=True)
        return json.loads(text)

    return do


@pytest.mark.parametrize("isolation", ISOLATIONS)
@pytest.mark.parametrize("attack", isolation_tasks.ATTACKS)
def test_a_job_finds_nothing_of_the_job_before(do, attack, isolation):
    do(f"{attack}_leaves_{isolation}")

    found = [do(f"{attack}_finds_{isolation}") for _ in range(LOOKS[isolation])]

    assert not any(found)


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_a_page_ends_with_its_job_though_nobody_waits_for_that(do, site, isolation):
    do(f"restless_page_leaves_{isolation}")

    # The worker asks its browser nothing from here on.
    deadline = time.monotonic() + 20
    heard, since = site.restless_requests, time.monotonic()
    while time.monotonic() - since < QUIET_SECONDS:
        assert time.monotonic() < deadline, "the page goes on after its job"
        if site.restless_requests != heard:
            heard, since = site.restless_requests, time.monotonic()
        time.sleep(0.02)
    assert heard > 0


def test_a_log_in_that_stays_is_one_accounts(do):
    accounts = ["ann", "ann", "ben", None, "ann", None]

    assert [do("portal", account) for account in accounts] == [
        *("logged in", "was in"),
        *("logged in", "logged in"),
        *("was in", "was in"),
    ]


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_nor_does_it_in_a_worker_of_a_run(launch, queue, site, isolation):
    jobs_of = {
        name: [
            queue.enqueue(f"{name}_{part}_{isolation}", {"url": site.url}, max_attempts=1)
            for part in ("leaves", *["finds"] * LOOKS[isolation])
        ]
        for name in isolation_tasks.ATTACKS
    }
    site.reset()

    run = launch("--workers", 1, "--tasks", isolation_tasks.__file__)

    assert run.wait(60) == 0
    found = {name: [outcome_of(queue.get(job)) for job in jobs] for name, jobs in jobs_of.items()}
    nothing = [("done", None), *[("done", [])] * LOOKS[isolation]]
    assert found == dict.fromkeys(jobs_of, nothing)


def test_a_log_in_stays_with_its_task_until_it_is_blocked_or_fails(launch, queue, site):
    """Each job logs in if it has to, and tells; `then` says how it ends."""
    ends = ["well", "well", "fail", "well", "block", "well", "well"]
    jobs = [queue.enqueue("portal", {"url": site.url, "then": end}, max_attempts=1) for end in ends]
    queue.enqueue("other_portal", {"url": site.url, "then": "well"}, max_attempts=1)

    run = launch("--workers", 1, "--tasks", isolation_tasks.__file__)

    assert run.wait(60) == 0
    logged_in = [outcome_of(queue.get(job))[1] for job in jobs if queue.get(job)["result"]]
    assert logged_in == ["logged in", "was in", "logged in", "logged in", "was in"]
    other = queue.get(jobs[-1] + 1)
    assert outcome_of(other) == ("done", "logged in")


def outcome_of(job):
    """A job's status and result."""
    return job["status"], json.loads(job["result"]) if job["result"] else None
