"""The start of a run: what its workers inherit, so that none of them does it again."""

from __future__ import annotations

import json

TASKS = """
import gc

from nightshift import task

# Before the worker has put anything aside by itself.
SHARED = gc.get_freeze_count()


@task("tells", browser=False)
def tells(page, payload, job):
    return {"shared": SHARED}
"""


def test_workers_search_for_no_garbage_in_what_the_launcher_has_loaded(
    launch, queue, database, tmp_path
):
    (tmp_path / "tells.py").write_text(TASKS)
    job = queue.enqueue("tells", {})

    run = launch("--workers", 1, "--tasks", tmp_path / "tells.py")
    assert run.wait() == 0

    (row,) = database.run_statement("SELECT id, result FROM work_queue")
    assert row["id"] == job
    # What Playwright and the rest are made of: far more than a worker could have made by then.
    assert json.loads(row["result"])["shared"] > 10_000
