"""A job that kills whatever does it is an error at the second time, whatever its other budget."""

from __future__ import annotations

from tests.lifecycle.pool import incarnations


def test_a_job_that_kills_its_worker_twice_is_an_error(launch, queue, tasks, noted):
    deadly = queue.enqueue("deadly", {}, max_attempts=9)
    good = queue.enqueue("noop", {})

    run = launch("--workers", 1, "--tasks", tasks, "--json")

    assert run.wait() == 0
    assert noted("begun") == [(deadly, 1), (deadly, 2)]
    assert [row["outcome"] for row in queue.history(deadly)] == ["crashed", "crashed"]
    row = queue.get(deadly)
    assert row["status"] == "error"
    assert row["last_error"].startswith("killed its worker or browser 2 times")
    assert queue.get(good)["status"] == "done"
    assert (run.summary["done"], run.summary["failed"], run.summary["crashes"]) == (1, 1, 2)


def test_a_page_that_crashes_its_browser_twice_is_an_error_and_the_worker_goes_on(
    launch, database, queue, tasks, noted, demo_site
):
    crashing = queue.enqueue("crashing", {}, max_attempts=9)
    good = queue.enqueue("visit", {"url": f"{demo_site}/products/1"})

    run = launch("--workers", 1, "--tasks", tasks, "--retry-delay", "0", "--json")

    assert run.wait() == 0
    assert noted("begun") == [(crashing, 1), (crashing, 2)]
    first, second = queue.history(crashing)
    assert (first["outcome"], second["outcome"]) == ("crashed", "crashed")
    assert "crashed" in first["reason"].lower()
    assert second["reason"].startswith("killed its worker or browser 2 times")
    assert queue.get(crashing)["status"] == "error"
    assert queue.get(good)["status"] == "done"
    assert (run.summary["done"], run.summary["failed"], run.summary["crashes"]) == (1, 1, 0)
    assert incarnations(database) == 1
