"""A file that a setting names: imported once, and explained in one line when it cannot be."""

from __future__ import annotations

import pytest

from worker.errors import SettingsError
from worker.system import user_module
from worker.tasks import registry

TASKS = """
from worker import task

marks = []

@task("noting", browser=False)
def noting(page, payload, job):
    return marks
"""


def test_a_file_of_tasks_is_not_run_a_second_time(tmp_path):
    file = tmp_path / "noted.py"
    file.write_text(TASKS)
    tasks = registry.load([str(file)])

    module = user_module.load(str(file), "--otel")

    assert tasks.get("noting").function(None, {}, None) is module.marks


def test_another_file_of_the_same_name_is_another_module(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "same.py").write_text(f"where = {folder!r}\n")

    found = [
        user_module.load(str(tmp_path / folder / "same.py"), "--otel").where
        for folder in ("a", "b")
    ]

    assert found == ["a", "b"]


def test_what_a_file_raises_is_one_line_that_names_the_setting(tmp_path):
    file = tmp_path / "odd.py"
    file.write_text("raise SystemExit('enough\\nof it')\n")

    with pytest.raises(SettingsError) as refused:
        user_module.load(str(file), "--otel")

    assert str(refused.value) == f"--otel {file}: cannot be loaded: SystemExit: enough of it"
