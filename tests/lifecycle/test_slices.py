"""Several hosts share one queue: each runs its own slots of the whole."""

from __future__ import annotations

import pytest

from worker.guards import limits


def test_a_slice_that_helps_nobody_takes_its_own_ids_alone(launch, queue, tasks, noted):
    queue.enqueue_many("noop", [{}] * 16)

    run = launch(
        "--workers", 2, "--total", 4, "--offset", 2, "--no-help", "--tasks", tasks, "--json"
    )

    assert run.wait() == 0
    assert {job % 4 for job, _ in noted("finished")} == {2, 3}
    assert (run.summary["done"], run.summary["left"]["pending"]) == (8, 8)
    assert [worker["slot"] for worker in run.summary["workers"]] == [2, 3]


def test_a_slice_that_helps_drains_everything(launch, queue, tasks, noted):
    queue.enqueue_many("noop", [{}] * 16)

    run = launch("--workers", 2, "--total", 4, "--offset", 2, "--tasks", tasks, "--json")

    assert run.wait() == 0
    assert len(noted("finished")) == 16
    assert run.summary["left"]["pending"] == 0


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--workers", 2, "--total", 4, "--offset", 3), "--total 4 has only 0..3"),
        (("--workers", 2, "--offset", 1), "raise --total or lower --offset"),
        (("--workers", 2, "--total", 1), "--total 1 has only 0..0"),
        (("--workers", 2, "--offset", -1), "--offset -1 is too small"),
        (("--workers", 0), "--workers 0 is too small; give 1 or more"),
        (("--workers", -3), "--workers -3 is too small"),
        (("--workers", 2, "--total", 0), "--total 0 is too small"),
    ],
)
def test_slots_that_cannot_be_meant_are_refused_in_one_line(launch, flags, said):
    run = launch(*flags)

    assert run.wait() == 2
    assert run.stdout == ""
    (line,) = run.stderr.splitlines()
    assert said in line


def test_a_slice_that_helps_nobody_is_held_back_by_its_own_jobs_only(
    launch, database, queue, tasks
):
    queue.enqueue_many("noop", [{}] * 8)
    limits.set_limit(database, "task:noop", concurrent=0, per_minute=None, by="me")

    run = launch(
        "--workers", 1, "--total", 4, "--offset", 2, "--no-help", "--tasks", tasks, "--json"
    )

    assert run.wait() == 11
    assert [item["jobs"] for item in run.summary["held_back"]] == [2]
