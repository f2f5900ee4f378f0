"""Whatever a task does, the pool goes on, the next job notices nothing, and the reason is plain."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

RUDE = Path(__file__).with_name("rude_tasks.py")

# What each one ends as, and what is told about it.
EXPECTED = {
    "returns_page": ("error", "the task returned what is not JSON"),
    "closes_page": ("done", ""),
    "closes_context": ("done", ""),
    "closes_browser": ("done", ""),
    "opens_popups": ("done", ""),
    "exits": ("error", "SystemExit: I leave"),
    "interrupts": ("error", "KeyboardInterrupt"),
    "prints": ("done", ""),
    "forks": ("done", ""),
    "forks_for_good": ("done", ""),
    "forks_a_chatterbox": ("done", ""),
    "starts_a_program": ("done", ""),
    "forks_and_returns": ("done", ""),
    "forks_and_raises": ("done", ""),
    "leaves_alert": ("done", ""),
    "downloads": ("done", ""),
    "is_impatient": ("done", ""),
    "asks_before_leaving": ("done", ""),
    "downloads_for_ever": ("done", ""),
    "returns_recursion": ("error", "the task returned what is not JSON"),
    "returns_too_much": ("error", "the task's result is 2.0 MB, the limit is 1 MB"),
    "raises_page": ("error", "ValueError"),
    "changes_folder": ("done", ""),
    "closes_stdout": ("done", ""),
    "litters": ("done", ""),
}


def test_the_pool_goes_on_and_the_next_job_is_not_affected(launch, queue, tmp_path, demo_site):
    tasks = shutil.copy(RUDE, tmp_path / "rude_tasks.py")
    rude, witnesses = {}, {}
    for name in EXPECTED:
        rude[name] = queue.enqueue(name, {"url": f"{demo_site}/products/1"}, max_attempts=1)
        witnesses[name] = queue.enqueue("witness", {"url": f"{demo_site}/slow/100"}, max_attempts=1)

    # One worker, so that every witness has the browser that the rude one before it had.
    run = launch("--workers", 1, "--tasks", tasks, "--json")

    assert run.wait(90) == 0
    assert run.summary["crashes"] == 0
    for name, (status, reason) in EXPECTED.items():
        job = queue.get(rude[name])
        assert (name, job["status"]) == (name, status), queue.history(rude[name])
        assert reason in (queue.history(rude[name])[-1]["reason"] or "")
    processes = set()
    for name, job in witnesses.items():
        assert queue.get(job)["status"] == "done", (name, queue.history(job))
        seen = json.loads(queue.get(job)["result"])
        processes.add(seen.pop("pid"))
        assert "Harbour Lantern" in seen.pop("title")
        expected = {"url": "about:blank", "pages": 1, "cookies": [], "stored": [0, 0]}
        assert (name, seen) == (name, expected)
    assert len(processes) == 1, "the worker itself had to be replaced"
    # What was forked for good did not hold up the run, and went with it: `launch` sees to that.
    assert "ended what tasks had left behind: " in run.stderr


def test_a_child_that_outlives_its_worker_neither_holds_up_nor_damages_the_next_one(
    launch, queue, tmp_path, demo_site
):
    tasks = shutil.copy(RUDE, tmp_path / "rude_tasks.py")
    queue.enqueue("forks_a_chatterbox", {}, max_attempts=1)
    queue.enqueue("kills_its_worker", {})
    after = queue.enqueue("witness", {"url": f"{demo_site}/products/1"}, max_attempts=1)

    run = launch("--workers", 1, "--tasks", tasks, "--json")

    assert run.wait(60) == 0
    assert run.summary["crashes"] == 2
    assert queue.get(after)["status"] == "done"
    assert "ended what tasks had left behind: 1 process" in run.stderr


def test_a_task_may_print_more_than_a_pipe_holds(launch, queue, tasks, noted):
    jobs = [queue.enqueue("prints_much", {}, max_attempts=1) for _ in range(3)]

    run = launch("--workers", 2, "--tasks", tasks, "--json", PYTHONUNBUFFERED=None)

    assert run.wait(60) == 0
    assert [queue.get(job)["status"] for job in jobs] == ["done"] * 3
    assert len(noted("finished")) == 3
    assert run.stderr.count("a long story") == 3 * 25_000
    assert (run.summary["failed"], run.summary["retried"]) == (0, 0)


def test_the_last_words_of_a_worker_may_be_long_and_of_any_alphabet(
    launch, queue, tasks, errors_dir
):
    job = queue.enqueue("speaks_and_dies", {})

    run = launch("--workers", 1, "--tasks", tasks, "--json")

    assert run.wait(60) == 0
    assert run.summary["crashes"] == 1
    crashed, done = queue.history(job)
    assert (crashed["outcome"], done["outcome"]) == ("crashed", "done")
    said = (errors_dir / crashed["evidence"] / "output.log").read_text(encoding="utf-8")
    assert said.count("ж" * 1500) > 10


def test_a_task_that_closes_the_workers_files_costs_the_next_job_nothing(
    launch, queue, tmp_path, demo_site
):
    tasks = shutil.copy(RUDE, tmp_path / "rude_tasks.py")
    rude = queue.enqueue("closes_everything", {"url": f"{demo_site}/products/1"})
    after = queue.enqueue("witness", {"url": f"{demo_site}/products/1"}, max_attempts=1)

    run = launch("--workers", 1, "--tasks", tasks, "--json")

    assert run.wait(60) == 0, run.stderr
    assert queue.get(rude)["status"] == "done", queue.history(rude)
    job = queue.get(after)
    assert (job["status"], job["attempts"]) == ("done", 1), queue.history(after)
