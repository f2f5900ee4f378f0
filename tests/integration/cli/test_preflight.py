"""What a run checks before its first fork."""

from __future__ import annotations

import os

import pytest

from tests.lifecycle.conftest import run_command, url_of
from worker.cli import preflight, privacy_check
from worker.settings import RunSettings


@pytest.mark.parametrize(
    ("name", "mode"), [("errors", 0o700), ("shared", 0o755)], ids=["the project's own", "chosen"]
)
def test_the_projects_own_folder_of_evidence_is_closed_to_others(
    settings, database, tmp_path, monkeypatch, name, mode
):
    monkeypatch.setattr(privacy_check, "project_dir", lambda: tmp_path)
    folder = tmp_path / name
    folder.mkdir()
    folder.chmod(0o755)

    run = RunSettings(database=settings, workers=1, total=1, errors_dir=folder)
    assert preflight.check(run, (), os.getpid()) > 0

    assert folder.stat().st_mode & 0o777 == mode


@pytest.mark.parametrize(("flags", "mode"), [((), 0o700), (("--dry-run",), 0o755)])
def test_a_sweep_closes_it_too_before_it_writes_there(settings, database, tmp_path, flags, mode):
    folder = tmp_path / "errors"
    folder.mkdir()
    folder.chmod(0o755)

    answer = run_command(
        tmp_path, "--project", tmp_path, "sweep", *flags,
        DATABASE_URL=url_of(settings), NIGHTSHIFT_ERRORS_DIR=None,
    )  # fmt: skip

    assert answer.returncode == 0, answer.stderr
    assert folder.stat().st_mode & 0o777 == mode
