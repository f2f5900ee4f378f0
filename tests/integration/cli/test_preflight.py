"""What a run checks before its first fork."""

from __future__ import annotations

import os

import pytest

from worker.cli import preflight
from worker.settings import RunSettings


@pytest.mark.parametrize(
    ("name", "mode"), [("errors", 0o700), ("shared", 0o755)], ids=["the project's own", "chosen"]
)
def test_the_projects_own_folder_of_evidence_is_closed_to_others(
    settings, database, tmp_path, monkeypatch, name, mode
):
    monkeypatch.setattr(preflight, "project_dir", lambda: tmp_path)
    folder = tmp_path / name
    folder.mkdir()
    folder.chmod(0o755)

    run = RunSettings(database=settings, workers=1, total=1, errors_dir=folder)
    assert preflight.check(run, (), os.getpid()) > 0

    assert folder.stat().st_mode & 0o777 == mode
