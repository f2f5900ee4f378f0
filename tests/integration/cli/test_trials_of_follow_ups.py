"""`try` counts the jobs that a task would add, and refuses those that a run would refuse."""

from __future__ import annotations

from tests.lifecycle.conftest import run_command

TASKS = """
from worker import task

@task("links", browser=False)
def links(page, payload, job):
    job.enqueue_many(({"url": f"https://e.org/{n}"} for n in range(3)), dedupe_key=payload["key"])
    job.enqueue("heading", {"url": "https://e.org"})
"""


def test_the_jobs_that_a_tried_task_adds_are_counted_and_checked_as_in_a_run(tmp_path):
    (tmp_path / "own.py").write_text(TASKS, encoding="utf-8")
    tried = ("try", "links", "--tasks", tmp_path / "own.py", "--direct", "--payload")

    done = run_command(tmp_path, *tried, '{"key": "k"}')
    assert done.returncode == 0, done.stderr
    assert "a run would add 4 jobs: 3 links, 1 heading" in done.stderr

    done = run_command(tmp_path, *tried, '{"key": ""}')
    assert done.returncode == 1
    assert "dedupe_key=''; give a text of 1 to 191 characters" in done.stderr
