"""What pages that fail, hang or refuse leave behind, from the queue to the folder of evidence.

Shows invariant 6: evidence is on disk before its job is settled.
"""

from __future__ import annotations

import json
from contextlib import closing

import pymysql
import pytest

from tests.lifecycle.conftest import wait_until

WHOLE = {
    "error.json",
    "traceback.txt",
    "screenshot.png",
    "page.html",
    "console.log",
    "network.json",
}


def test_evidence_is_on_disk_before_the_job_is_settled(
    launch, queue, tasks, noted, let_go, errors_dir, settings
):
    job = queue.enqueue("held_failure", {})
    run = launch("--workers", 1, "--tasks", tasks)
    wait_until(lambda: noted("begun"), "the job has begun")
    folder = errors_dir / str(job) / "1"
    with closing(
        pymysql.connect(unix_socket=settings.unix_socket, user="root", database=settings.database)
    ) as other:
        # While this lock is held nobody can settle the job.
        other.cursor().execute("SELECT id FROM work_queue WHERE id = %s FOR UPDATE", (job,))
        let_go()

        wait_until(
            lambda: folder.is_dir() and {path.name for path in folder.iterdir()} >= WHOLE,
            "all of the evidence is there",
        )

        assert queue.get(job)["status"] == "in_progress"
        other.rollback()
    assert run.wait() == 0
    assert queue.get(job)["status"] == "error"
    told = json.loads((folder / "error.json").read_text(encoding="utf-8"))
    assert [step["text"] for step in told["steps"]] == ["at the door"]
    assert told["started"] < told["steps"][0]["at"] < told["finished"]
    assert told["seconds"] > 0


def test_a_failing_page_leaves_evidence_of_itself(launch, queue, demo_site, errors_dir):
    job = queue.enqueue("visit", {"url": f"{demo_site}/products/999"})

    assert launch("--workers", 1).wait() == 0

    folder = errors_dir / str(job) / "1"
    assert {path.name for path in folder.iterdir()} == WHOLE
    told = json.loads((folder / "error.json").read_text(encoding="utf-8"))
    assert (told["job_id"], told["task"], told["status"]) == (job, "visit", 404)
    assert told["final_url"] == f"{demo_site}/products/999"
    assert (folder / "screenshot.png").read_bytes().startswith(b"\x89PNG")
    assert "Fail: HTTP 404" in (folder / "traceback.txt").read_text(encoding="utf-8")
    assert "Fail: HTTP 404" in queue.get(job)["last_error"]
    (attempt,) = queue.history(job)
    assert attempt["evidence"] == f"{job}/1"
    assert attempt["fingerprint"] == told["fingerprint"]


def test_a_second_attempt_leaves_a_trace(launch, queue, demo_site, errors_dir):
    job = queue.enqueue("visit", {"url": f"{demo_site}/fail/500"}, max_attempts=2)

    assert launch("--workers", 1, "--retry-delay", "0").wait() == 0

    assert [row["outcome"] for row in queue.history(job)] == ["retry", "retry"]
    assert queue.get(job)["status"] == "error"
    assert not (errors_dir / str(job) / "1" / "trace.zip").exists()
    assert (errors_dir / str(job) / "2" / "trace.zip").stat().st_size > 0


def test_no_attempt_leaves_a_trace_where_none_is_wanted(launch, queue, demo_site, errors_dir):
    job = queue.enqueue("visit", {"url": f"{demo_site}/fail/500"}, max_attempts=2)

    assert launch("--workers", 1, "--retry-delay", "0", NIGHTSHIFT_TRACE="never").wait() == 0

    assert (errors_dir / str(job) / "2" / "error.json").exists()
    assert list(errors_dir.rglob("*.zip")) == []


def test_pages_that_hang_end_by_their_timeout_with_stack_and_address_of_the_hang(
    launch, queue, demo_site, errors_dir
):
    # What never answers is never opened: the page is still where it was.
    final_urls = {"silent": "about:blank", "busy": f"{demo_site}/hang/busy"}
    hanging = {
        queue.enqueue("visit", {"url": f"{demo_site}/hang/{kind}"}, max_attempts=1): final_url
        for kind, final_url in final_urls.items()
    }
    good = {"url": f"{demo_site}/products/1"}
    after = [queue.enqueue("visit", good, timeout_seconds=60) for _ in range(2)]

    # Time enough to open the page that hangs, also for a busy machine.
    assert launch("--workers", 2, "--job-timeout", "5s").wait() == 0

    assert [queue.get(job)["status"] for job in after] == ["done", "done"]
    for job, final_url in hanging.items():
        assert queue.get(job)["status"] == "error"
        (attempt,) = queue.history(job)
        assert attempt["outcome"] == "timed_out"
        assert "ran past its timeout of 5 s" in attempt["reason"]
        folder = errors_dir / str(job) / "1"
        traceback = (folder / "traceback.txt").read_text(encoding="utf-8")
        _, _, stack = traceback.partition("Where it hung:\n")
        assert "in visit" in stack
        told = json.loads((folder / "error.json").read_text(encoding="utf-8"))
        assert told["final_url"] == final_url
        assert "in visit" in told["hang_stack"]


def test_a_page_that_answers_late_is_tried_again(launch, queue, demo_site):
    job = queue.enqueue("visit", {"url": f"{demo_site}/flaky/of-this-run"})

    run = launch("--workers", 1, "--retry-delay", "0", "--json")

    assert run.wait() == 0
    assert [row["outcome"] for row in queue.history(job)] == ["retry", "done"]
    assert (run.summary["done"], run.summary["failed"], run.summary["retried"]) == (1, 0, 1)


def test_a_page_that_refuses_robots_is_told_from_one_that_fails(launch, queue, demo_site):
    job = queue.enqueue("visit", {"url": f"{demo_site}/blocked/challenge"}, max_attempts=1)

    assert launch("--workers", 1).wait() == 0

    (attempt,) = queue.history(job)
    assert attempt["outcome"] == "blocked"
    assert attempt["reason"].startswith("blocked: Cloudflare challenge (HTTP 403)")


def test_a_refusal_is_waited_out_as_long_as_the_site_asks(launch, queue, demo_site):
    job = queue.enqueue("visit", {"url": f"{demo_site}/blocked/rate-limited"})

    assert launch("--workers", 1, "--wait-retries", "0").wait() == 0

    row = queue.get(job)
    (attempt,) = queue.history(job)
    assert row["status"] == "pending"
    waits = (row["not_before"] - attempt["finished_at"]).total_seconds()
    # Without that it would be half a minute.
    assert waits == pytest.approx(2.0, abs=1.5)


def test_a_job_without_a_page_leaves_no_evidence_of_the_one_before(
    launch, queue, demo_site, errors_dir
):
    queue.enqueue("visit", {"url": f"{demo_site}/products/1?secret-of-another-job"})
    job = queue.enqueue("no such task", {})

    assert launch("--workers", 1).wait() == 0

    for path in (errors_dir / str(job) / "1").iterdir():
        assert b"secret-of-another-job" not in path.read_bytes(), path.name
