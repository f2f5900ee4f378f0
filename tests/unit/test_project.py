"""The project folder: what is in it, and who says which it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from worker import installation, project
from worker.errors import UsageError

REPO = Path(__file__).parents[2]


def test_the_checkout_is_its_own_project():
    assert project.project_dir({}) == REPO


def test_an_installed_nightshift_has_its_project_where_it_is_run(tmp_path, monkeypatch):
    monkeypatch.setattr(installation, "_BUNDLE", tmp_path)
    monkeypatch.chdir(tmp_path)

    assert project.project_dir({}) == tmp_path


def test_everything_of_a_project_is_in_its_folder(tmp_path):
    environ: dict[str, str] = {}
    project.choose(str(tmp_path), environ)

    assert project.project_dir(environ) == tmp_path
    assert project.env_file(environ) == tmp_path / ".env"
    assert project.errors_dir(environ) == tmp_path / "errors"
    assert project.results_dir(environ) == tmp_path / "results"
    assert project.state_dir(environ) == tmp_path / ".local"


def test_the_project_above_a_folder_is_found(tmp_path):
    inner = tmp_path / "tasks" / "more"
    inner.mkdir(parents=True)
    assert project.above(inner) is None

    (tmp_path / "nightshift.toml").touch()

    assert project.above(inner) == tmp_path
    assert project.above(tmp_path) is None


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"--project .*/none: there is no such folder"):
        project.choose(str(tmp_path / "none"), {})


def test_no_module_of_ours_looks_for_a_users_files_beside_the_code():
    found = [
        str(path.relative_to(REPO))
        for path in sorted((REPO / "worker").rglob("*.py"))
        if "PROJECT_ROOT" in path.read_text(encoding="utf-8") and path.name != "settings.py"
    ]

    assert found == []
