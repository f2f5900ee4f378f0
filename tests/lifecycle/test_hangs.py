"""Whatever hangs is ended at its deadline: by its worker, or by the launcher when that is stuck."""

from __future__ import annotations

import json
import time

from tests.lifecycle.conftest import wait_until
from worker import __version__


def test_the_jobs_own_timeout_goes_before_its_tasks_and_that_before_the_runs(
    launch, queue, tasks, noted
):
    nap = {"seconds": 2.0}
    by_run = queue.enqueue("napping", nap, max_attempts=1)
    longer_by_job = queue.enqueue("napping", nap, max_attempts=1, timeout_seconds=60)
    longer_by_task = queue.enqueue("patient", nap, max_attempts=1)
    by_job = queue.enqueue("patient", nap, max_attempts=1, timeout_seconds=1)

    run = launch("--workers", 4, "--tasks", tasks, "--job-timeout", "1s")

    assert run.wait() == 0
    for job in (by_run, by_job):
        (attempt,) = queue.history(job)
        assert attempt["outcome"] == "timed_out"
        assert attempt["reason"].startswith("job ran past its timeout of 1 s")
    for job in (longer_by_job, longer_by_task):
        assert queue.get(job)["status"] == "done"


def test_a_worker_that_is_stuck_is_ended_by_the_launcher_and_shows_where(
    launch, queue, tasks, errors_dir
):
    # One comes back for nobody, one hangs in C code, one has been stopped.
    names = ("shielded", "in_c_code", "standing")
    stuck = {queue.enqueue(name, {}, max_attempts=1): name for name in names}
    good = [queue.enqueue("noop", {}, timeout_seconds=60) for _ in range(3)]

    run = launch(
        *("--workers", 3, "--tasks", tasks, "--json"),
        *("--job-timeout", "1s", "--hang-grace", "1s"),
    )

    assert run.wait() == 0
    assert [queue.get(job)["status"] for job in good] == ["done"] * 3
    assert (run.summary["done"], run.summary["failed"], run.summary["crashes"]) == (3, 3, 3)
    for job, name in stuck.items():
        assert queue.get(job)["status"] == "error"
        (attempt,) = queue.history(job)
        assert attempt["outcome"] == "timed_out"
        assert f" s in {name}, past its timeout; killed by the launcher" in attempt["reason"]
        folder = errors_dir / attempt["evidence"]
        told = json.loads((folder / "error.json").read_text(encoding="utf-8"))
        assert (told["task"], told["outcome"], told["doing"]) == (name, "timed_out", name)
        assert told["started"] < told["finished"]
        assert told["nightshift_version"] == __version__
        # Its task has no page, so there was no browser.
        assert told["browser_version"] is None
        if name == "shielded":
            # The watchdog of the others cannot run, or has nothing to stand on.
            assert [step["text"] for step in told["steps"]] == ["at the door"]
            assert (folder / "network.json").exists()
        if name != "standing":
            # A process that is stopped cannot say where.
            said = (folder / "output.log").read_text(encoding="utf-8")
            assert f"in {name}" in said
            assert "tasks.py" in said


def test_a_worker_that_prints_without_end_does_not_save_another_from_its_deadline(
    launch, queue, tasks, noted, let_go
):
    chatty = queue.enqueue("chatters", {}, timeout_seconds=600)
    stuck = queue.enqueue("in_c_code", {}, max_attempts=1, timeout_seconds=2)
    run = launch("--workers", 2, "--tasks", tasks, "--hang-grace", "1s")
    wait_until(lambda: len(noted("begun")) == 2, "both are at work")

    began = time.monotonic()
    wait_until(lambda: queue.get(stuck)["status"] == "error", "the stuck one is ended")
    took = time.monotonic() - began
    let_go()

    assert run.wait() == 0
    assert queue.get(chatty)["status"] == "done"
    # Its timeout, the grace, half a second for its stack; and no more than two for the chatter.
    assert took < 2 + 1 + 0.5 + 2


def test_a_page_that_hangs_costs_its_timeout_and_little_more_and_no_browser(
    launch, queue, tasks, noted, demo_site
):
    queue.enqueue("which_browser", {})
    # A page that merely never answers, and one whose script spins: that takes two probes more.
    most = {"silent": 2.0, "busy": 6.0}
    hanging = {
        queue.enqueue("visit", {"url": f"{demo_site}/hang/{kind}"}, max_attempts=1): seconds
        for kind, seconds in most.items()
    }
    queue.enqueue("which_browser", {})

    assert launch("--workers", 1, "--tasks", tasks, "--page-timeout", "2s").wait() == 0

    for job, seconds in hanging.items():
        (attempt,) = queue.history(job)
        assert "Timeout 2000ms exceeded" in attempt["reason"]
        # Waiting for an answer to every question made it thirteen.
        assert (attempt["finished_at"] - attempt["started_at"]).total_seconds() < 2 + seconds
    assert len(noted("browsers")) == 2
    assert len({pid for _, pid in noted("browsers")}) == 1
