"""`deploy/setup-tests.sh`: gets what a few tests use, and never stands in their way."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "deploy" / "setup-tests.sh"
TOOLS = ("bash", "env", "mktemp", "rm", "tar")


@pytest.fixture
def run(tmp_path: Path):
    """Run it on a machine whose apt can install nothing; give its words and what apt was asked."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in TOOLS:
        (programs / name).symlink_to(str(shutil.which(name)))

    def found(*there: str, user: int = 0) -> tuple[str, str]:
        asked = tmp_path / "asked"
        asked.write_text("")
        write(programs / "id", f"echo {user}")
        write(programs / "apt-get", f'echo "$*" >> {asked}; exit 100')
        for name in there:
            write(programs / name, "exit 0")
        done = subprocess.run(
            [SCRIPT], env={"PATH": str(programs)}, check=False, text=True, capture_output=True
        )
        assert (done.returncode, done.stdout) == (0, "")
        return done.stderr, asked.read_text()

    return found


def write(program: Path, text: str) -> None:
    program.write_text(f"#!/usr/bin/env bash\n{text}\n")
    program.chmod(0o755)


def test_without_root_it_leaves_the_machine_alone(run):
    assert run(user=1000) == ("", "")


def test_what_is_there_is_not_asked_for(run):
    assert run("Xvfb", "chromium", "promtool") == ("", "")


def test_what_cannot_be_had_is_said_and_ends_nothing(run):
    said, asked = run("chromium")

    assert "getting xvfb promtool, for a few tests" in said
    assert "cannot install xvfb: their tests are skipped" in said
    assert "no promtool: its tests are skipped" in said
    assert "install --no-install-recommends xvfb" in asked
    assert "download prometheus" in asked
