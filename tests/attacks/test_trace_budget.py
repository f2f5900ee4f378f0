"""What a trace takes on disk is the operator's wish, and is not held against the job."""

from __future__ import annotations

import base64
import gc
import os
import warnings

import pytest
from playwright.sync_api import Error as PlaywrightError

from tests.attacks import page_attacks
from tests.attacks.hostile_site import Answer
from tests.attacks.unasked_files import ATTACHED

hostile, only_session, session = (
    page_attacks.hostile,
    page_attacks.only_session,
    page_attacks.session,
)

TASKS = """
from worker import task

@task("heavy")
def heavy(page, payload, job):
    page.goto(payload["url"])
    page.wait_for_timeout(1500)
    return page.title()

@task("flood", downloads=True)
def flood(page, payload, job):
    page.goto(payload["url"], wait_until="commit")
    page.wait_for_timeout(20_000)
"""


@pytest.fixture
def heavy_page(hostile):
    """A page whose trace is far above the budget of its job; its cache does not count for much."""
    noise = base64.b64encode(os.urandom(6_000_000)).decode()
    return hostile.show("/heavy", f"<title>heavy</title><p hidden>{noise}</p>")


def test_a_traced_job_may_write_as_much_as_one_that_is_not(launch, queue, heavy_page, tmp_path):
    tasks = tmp_path / "heavy.py"
    tasks.write_text(TASKS)
    job = queue.enqueue("heavy", {"url": heavy_page}, max_attempts=1)

    run = launch("--workers", 1, "--tasks", tasks, "--job-disk-mb", 5, "--trace", "always")

    assert run.wait(60) == 0, run.output
    assert queue.get(job)["status"] == "done", queue.history(job)


def test_a_traced_job_that_writes_too_much_ends_in_good_order(launch, queue, hostile, tmp_path):
    tasks = tmp_path / "heavy.py"
    tasks.write_text(TASKS)
    hostile.pages["/big"] = Answer(b"x" * 30_000_000, 200, ATTACHED)
    flood = queue.enqueue("flood", {"url": hostile.show("/offer", "<iframe src=/big></iframe>")})
    fine = queue.enqueue("heavy", {"url": hostile.show("/fine", "<title>fine</title>")})

    run = launch("--workers", 1, "--tasks", tasks, "--job-disk-mb", 5, "--trace", "always")

    assert run.wait(60) == 0
    (attempt,) = queue.history(flood)
    assert "the limit is 5 MB" in attempt["reason"]
    assert queue.get(fine)["status"] == "done"
    assert "never awaited" not in run.output
    assert "Traceback" not in run.output


@pytest.mark.parametrize("isolation", ["context", "page", "worker"])
def test_nothing_is_asked_of_a_driver_that_is_dead(session, isolation):
    page = session.page_for_job(trace=True, isolation=isolation)
    session.kill_driver()
    with pytest.raises(PlaywrightError):
        page.title()

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        session.release(clean=False)
        gc.collect()
        session.page_for_job()
        gc.collect()

    assert [str(each.message) for each in said if "never awaited" in str(each.message)] == []
