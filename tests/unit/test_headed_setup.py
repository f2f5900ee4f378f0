"""`make setup HEADED=1`: a Chromium with windows is seen, installed, or named with its remedy."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

REPO = Path(__file__).parents[2]
TOOLS = (
    *("bash", "env", "dirname", "mkdir", "stat", "cmp", "touch", "tail", "head", "sed", "grep"),
    *("timeout", "cp", "cat", "chmod"),
)
READY = "exit 0"
NO_DOWNLOAD = """
case "$*" in *--dry-run*) exit 0;; "- "*) exit 1;; *"playwright install"*) exit 1;; esac; exit 0
"""


@pytest.fixture
def machine(tmp_path: Path):
    """A copy of the set-up on a machine where all is ready but a Chromium with windows."""
    for name in ("deploy/setup.sh", "requirements.lock"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(REPO / name, tmp_path / name)
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in TOOLS:
        (programs / name).symlink_to(str(shutil.which(name)))
    for name in ("mariadbd", "chromium-headless-shell", "tinyproxy"):
        write(programs / name, READY)
    write(programs / "id", "echo 0")
    write(programs / "apt-get", f'echo "$*" >> {tmp_path}/asked; exit 1')
    write(tmp_path / "venv" / "bin" / "python", NO_DOWNLOAD)
    shutil.copy(REPO / "requirements.lock", tmp_path / "venv" / "requirements.lock")
    return tmp_path


def write(path: Path, script: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/bash\n{script}\n")
    path.chmod(0o755)


def set_up(machine: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    own = {"PATH": str(machine / "bin"), "HOME": "/", "VIRTUAL_ENV": str(machine / "venv")}
    return subprocess.run(
        [str(machine / "deploy" / "setup.sh")],
        env=own | environment,
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize("wish", [{}, {"HEADED": ""}, {"HEADED": "0"}])
def test_without_the_wish_a_headless_one_is_enough(machine, wish):
    done = set_up(machine, **wish)

    assert (done.returncode, done.stderr) == (0, "setup: ready\n")
    assert not (machine / "asked").exists()


def test_one_that_is_there_is_enough(machine):
    write(machine / "bin" / "google-chrome", READY)
    done = set_up(machine, HEADED="1")

    assert (done.returncode, done.stderr) == (0, "setup: ready\n")


def test_one_that_can_be_installed_is(machine):
    install = f"cp {machine}/bin/mariadbd {machine}/bin/chromium"
    write(machine / "bin" / "apt-get", f'[[ "$*" == *"install chromium" ]] && {install}; exit 0')
    done = set_up(machine, HEADED="1")

    assert done.returncode == 0, done.stderr
    assert "setup: installing chromium\n" in done.stderr


def test_one_that_cannot_be_had_is_one_line_with_its_remedy(machine):
    done = set_up(machine, HEADED="1")

    assert done.returncode == 69
    line = "setup: missing a Chromium with windows: apt-get install chromium\n"
    assert done.stderr.endswith(line)


def test_a_headless_shell_that_is_named_is_none_with_windows(machine):
    shell = machine / "bin" / "chromium-headless-shell"
    done = set_up(machine, HEADED="1", NIGHTSHIFT_BROWSER=str(shell))

    assert done.returncode == 69
    assert "with windows" in done.stderr
