"""One bad job never stops the pool: each ends by itself, with one clear line that says why."""

from __future__ import annotations


def test_bad_jobs_end_one_by_one_and_the_good_ones_are_done(launch, database, queue, tasks, noted):
    expected = {
        queue.enqueue("no such task", {}): "no task named 'no such task' is loaded",
        queue.enqueue("visit", {}): 'the payload of visit needs "url"',
        queue.enqueue("visit", {"url": 17}): 'the payload of visit needs "url"',
        queue.enqueue("visit", {"url": "gopher://x"}): "payload.url: 'gopher://x' is not one",
        queue.enqueue("leaving", {}): "SystemExit: enough of this",
        queue.enqueue("unspeakable", {}): "the task returned what is not JSON",
        queue.enqueue("huge", {}): "the task's result is 2.0 MB, the limit is 1 MB",
    }
    for payload, kind in (("[1, 2]", "a list"), ('"text"', "a text"), ("null", "null")):
        database.run_statement(
            "INSERT INTO work_queue (payload) VALUES (%(payload)s)", {"payload": payload}
        )
        (newest,) = database.run_statement("SELECT MAX(id) AS id FROM work_queue")
        expected[newest["id"]] = f"the payload is {kind}, not an object"
    good = [queue.enqueue("noop", {}) for _ in range(4)]

    run = launch("--workers", 2, "--tasks", tasks, "--json")

    assert run.wait() == 0
    assert {job for job, _ in noted("finished")} == set(good)
    assert (run.summary["done"], run.summary["failed"]) == (len(good), len(expected))
    assert run.summary["crashes"] == 0
    for job, line in expected.items():
        (attempt,) = queue.history(job)
        assert attempt["outcome"] == "error"
        assert line in attempt["reason"]
        assert "\n" not in attempt["reason"]
        assert line in queue.get(job)["last_error"].rstrip().splitlines()[-1]


def test_addresses_that_cannot_be_reached_are_explained(launch, queue, demo_site):
    expected = {
        queue.enqueue("visit", {"url": url}, max_attempts=2): reason
        for url, reason in (
            (demo_site.replace("127.0.0.1", "127.0.0.2"), "net::ERR_CONNECTION_REFUSED"),
            ("http://127.0.0.1:1/", "net::ERR_UNSAFE_PORT"),
            ("http://nightshift-demo.invalid/", "net::ERR_NAME_NOT_RESOLVED"),
        )
    }

    assert launch("--workers", 1, "--retry-delay", "0").wait() == 0

    for job, reason in expected.items():
        assert queue.get(job)["status"] == "error"
        assert [row["outcome"] for row in queue.history(job)] == ["retry", "retry"]
        assert reason in queue.history(job)[-1]["reason"]


def test_a_job_that_comes_with_no_attempts_left_is_an_error_and_not_run(
    launch, database, queue, tasks, noted
):
    job = queue.enqueue("noop", {}, max_attempts=2)
    database.run_statement("UPDATE work_queue SET attempts = 2")

    assert launch("--workers", 1, "--tasks", tasks).wait() == 0

    assert queue.get(job)["status"] == "error"
    assert "it has had its 2 attempts" in queue.history(job)[0]["reason"]
    assert noted("finished") == []
