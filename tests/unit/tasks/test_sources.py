"""Importing a user's file: once, if it is asked for a second time under another setting."""

from __future__ import annotations

import pytest

from worker.errors import SettingsError
from worker.tasks.sources import import_source


def test_a_file_that_was_imported_is_not_run_again_where_that_is_wanted(tmp_path):
    file = tmp_path / "counted.py"
    file.write_text("marks = []\n")

    first = import_source(str(file), "--tasks")

    assert import_source(str(file), "--otel", reuse=True) is first
    assert import_source(str(file), "--tasks") is not first


def test_another_file_of_the_same_name_is_another_module(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "same.py").write_text(f"where = {folder!r}\n")

    import_source(str(tmp_path / "a" / "same.py"), "--tasks")

    again = import_source(str(tmp_path / "b" / "same.py"), "--otel", reuse=True)
    assert again.where == "b"


def test_what_is_wrong_names_the_setting(tmp_path):
    file = tmp_path / "odd.py"
    file.write_text("raise SystemExit('enough')\n")

    with pytest.raises(SettingsError, match=rf"--otel {file}: cannot be loaded: SystemExit"):
        import_source(str(file), "--otel")
