"""Which virtualenv the set-up uses: the active one, or `.venv`, made with the Python one names."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

REPO = Path(__file__).parents[2]
SetUp = Callable[..., str]
# A virtualenv with pip takes seconds to make, and much longer on a busy machine.
pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout whose lock names no package; what else it lacks does not matter here."""
    folder = tmp_path / "checkout"
    (folder / "deploy").mkdir(parents=True)
    shutil.copy(REPO / "deploy" / "setup.sh", folder / "deploy")
    shutil.copy(REPO / "Makefile", folder)
    (folder / "requirements.lock").write_text("# nothing\n")
    return folder


@pytest.fixture
def set_up(checkout: Path, tmp_path: Path) -> SetUp:
    programs = tmp_path / "programs"
    programs.mkdir()
    # Nothing is installed on this machine.
    (programs / "apt-get").write_text("#!/bin/sh\nexit 1\n")
    (programs / "apt-get").chmod(0o755)

    def run(**variables: str) -> str:
        path = f"{programs}:{Path(sys.base_prefix) / 'bin'}:/usr/bin:/bin"
        environment = {"PATH": path, "HOME": str(tmp_path), **variables}
        done = subprocess.run(
            ["make", "setup"],
            cwd=checkout,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=250,
        )
        return done.stdout + done.stderr

    return run


def make_virtualenv(folder: Path, *, has_packages: bool = True) -> None:
    """Make one that has the packages of this one, pip among them: quicker than with its own pip."""
    venv.create(folder, with_pip=False)
    (packages,) = folder.glob("lib/python*/site-packages")
    if has_packages:
        (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")


def version_of(python: Path | str) -> str:
    script = "import sys; print('%d.%d' % sys.version_info[:2])"
    return subprocess.run([python, "-c", script], capture_output=True, text=True).stdout.strip()  # noqa: PLW1510


def another_python() -> str | None:
    """Find a Python of another version than this one that can make virtualenvs.

    A shim of pyenv's is there for every version, but refuses those that are not chosen.
    """
    own = version_of(sys.executable)
    for version in {"3.11", "3.12", "3.13", "3.14"} - {own}:
        pyenv = (Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python{version}")
        for name in (shutil.which(f"python{version}"), *map(str, pyenv)):
            check = [name or "false", "-c", "import ensurepip, venv"]
            if not subprocess.run(check, capture_output=True, check=False).returncode:
                return name
    return None


def test_a_virtualenv_that_is_active_is_used(checkout, set_up, tmp_path):
    active = tmp_path / "active"
    make_virtualenv(active)

    told = set_up(VIRTUAL_ENV=str(active))

    assert f"installing the Python packages into {active}" in told
    assert (active / "requirements.lock").read_text() == "# nothing\n"
    assert not (checkout / ".venv").exists()


def test_a_named_python_makes_dot_venv_even_if_another_virtualenv_is_active(
    checkout, set_up, tmp_path
):
    set_up(VIRTUAL_ENV=str(tmp_path / "active"), PYTHON=sys.executable)

    assert version_of(checkout / ".venv" / "bin" / "python") == version_of(sys.executable)


def test_another_python_makes_dot_venv_anew(checkout, set_up):
    other = another_python()
    if other is None:
        pytest.skip("there is one Python here")
    make_virtualenv(checkout / ".venv")

    set_up(PYTHON=other)

    assert version_of(checkout / ".venv" / "bin" / "python") == version_of(other)


def test_a_python_that_is_not_there_is_named_in_one_line(checkout, set_up):
    told = set_up(PYTHON="python2.5")

    assert "setup: missing Python 3.11 or newer: install it, or name it in PYTHON" in told
    assert not (checkout / ".venv").exists()


@pytest.mark.parametrize(("has_packages", "told"), [(True, "stayed\n"), (False, "left\nstayed\n")])
def test_the_launcher_stays_in_a_virtualenv_that_has_what_it_needs(tmp_path, has_packages, told):
    make_virtualenv(tmp_path / "active", has_packages=has_packages)
    script = (
        "import os, launcher; os.execv = lambda *command: print('left'); "
        "launcher.use_own_environment(); print('stayed')"
    )
    done = subprocess.run(
        [tmp_path / "active" / "bin" / "python", "-c", script],
        cwd=REPO,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout == told, done.stderr
