"""docs/tasks.md describes the whole task API, as the README says."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import nightshift
from worker.tasks.job import Job

TEXT = (Path(__file__).parents[3] / "docs" / "tasks.md").read_text(encoding="utf-8")
# `{"url": …}` and the like aside: what stands in backticks, in rows of tables and in code.
NAMED = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`\n]+)`", TEXT))))


def test_every_option_of_a_task_has_a_row():
    rows = set(re.findall(r"^\| `(\w+)` \|", TEXT, re.MULTILINE))

    assert set(inspect.signature(nightshift.task).parameters) - {"name"} <= rows


def test_everything_that_a_job_has_is_named():
    public = {name for name in dir(Job) if not name.startswith("_")}

    assert len(public) > 15
    assert public - NAMED == set()


def test_every_option_of_enqueue_is_named():
    options = inspect.signature(nightshift.enqueue).parameters

    assert set(options) - {"task", "payload"} <= NAMED
