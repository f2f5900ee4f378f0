from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

REPO = Path(__file__).parents[2]


def name_of(requirement: str) -> str:
    return re.split(r"[^A-Za-z0-9_.-]", requirement)[0].lower().replace("_", "-")


def test_the_lock_pins_every_dependency_with_a_hash() -> None:
    project = tomllib.loads((REPO / "pyproject.toml").read_text())
    wanted = project["project"]["dependencies"] + project["dependency-groups"]["dev"]
    entries = re.split(r"\n(?=\S)", (REPO / "requirements.lock").read_text())
    pinned = {name_of(entry): entry for entry in entries if not entry.startswith("#")}
    assert {name_of(requirement) for requirement in wanted} <= pinned.keys()
    assert all("==" in entry and "--hash=sha256:" in entry for entry in pinned.values())


def test_no_set_up_file_names_a_host() -> None:
    for name in ("requirements.lock", "pyproject.toml", "Makefile", "deploy/fetch-mysql.sh"):
        assert "://" not in (REPO / name).read_text(), name


def test_make_lists_its_targets_without_any_set_up() -> None:
    shown = subprocess.run(["make"], cwd=REPO, capture_output=True, check=True, text=True).stdout
    for target in ("setup", "run", "test", "test-mysql", "check", "sweep", "status", "clean"):
        assert f"make {target} " in shown


def test_a_missing_browser_is_one_line_with_its_remedy_and_exit_69() -> None:
    answer = subprocess.run(
        ["deploy/setup.sh"],
        cwd=REPO,
        env={"PATH": "/usr/bin:/bin", "NIGHTSHIFT_BROWSER": "/no/such/browser"},
        capture_output=True,
        check=False,
        text=True,
    )
    assert answer.returncode == 69
    line = "setup: missing NIGHTSHIFT_BROWSER=/no/such/browser does not run: mend or unset it\n"
    assert answer.stderr == line
