"""What `make` would do, asked with -n: which commands set up first, and when again."""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

REPO = Path(__file__).parents[2]


@pytest.fixture
def plan(tmp_path: Path) -> Callable[..., str]:
    """Say what `make test` would run in a checkout that is set up with this Python."""
    (tmp_path / "deploy").mkdir()
    for name in ("Makefile", "requirements.lock", "deploy/setup.sh"):
        shutil.copy(REPO / name, tmp_path / name)
    venv.create(tmp_path / ".venv", with_pip=False)
    (tmp_path / ".venv" / ".ready").touch()

    def plan(**variables: str) -> str:
        return subprocess.run(
            ["make", "-n", "test"],
            cwd=tmp_path,
            env={"PATH": "/usr/bin:/bin", **variables},
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    return plan


def test_what_is_set_up_is_not_set_up_again(plan):
    assert "setup.sh" not in plan()
    assert "setup.sh" not in plan(PYTHON=sys.executable)


@pytest.mark.parametrize("named", ["older/python", "/no/such/python"])
def test_another_python_than_the_virtualenv_has_is_not_ignored(plan, tmp_path, named):
    older = tmp_path / "older" / "python"
    older.parent.mkdir()
    older.write_text("#!/bin/sh\necho 3.9\n")
    older.chmod(0o755)

    told = plan(PYTHON=str(tmp_path / named))

    assert f"PYTHON='{tmp_path / named}'" in told
    assert "deploy/setup.sh" in told
