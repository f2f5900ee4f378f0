"""Nightshift as a newcomer has it: a wheel, installed into an empty virtualenv, far from here.

Its dependencies come from the virtualenv that runs the tests, by a `.pth` file, so that no network
is needed; of Nightshift itself that virtualenv has nothing.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path
from typing import Any

REPO = Path(__file__).parents[2]
PRIVATE = ("DATABASE_URL", "MYSQL_", "NIGHTSHIFT_", "PYTHON", "VIRTUAL_ENV")
SECONDS = 120


def build_wheel(folder: Path, source: Path = REPO) -> Path:
    """Build the wheel of this checkout, as `python -m build` and `pip install .` do."""
    _run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)], source)
    (wheel,) = folder.glob("*.whl")
    return wheel


def unpack_source(folder: Path) -> Path:
    """Build the source distribution of this checkout; return where it is unpacked."""
    _run([sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(folder)], REPO)
    (packed,) = folder.glob("*.tar.gz")
    with tarfile.open(packed) as archive:
        archive.extractall(folder, filter="data")
    return folder / packed.name.removesuffix(".tar.gz")


def contents(wheel: Path) -> dict[str, bytes]:
    """Read every file of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def install(wheel: Path, folder: Path) -> Path:
    """Make a virtualenv with the wheel in it; returns its folder of programs."""
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = folder / "lib" / version / "site-packages"
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
    _run([*pip, "install", "-q", "--no-deps", "--no-index", str(wheel)], folder)
    return folder / "bin"


def own_environment(programs: Path) -> dict[str, str]:
    """The environment of somebody whose virtualenv is active, and who has set nothing else."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(PRIVATE)}
    if "NIGHTSHIFT_MYSQLD" in os.environ:
        kept["NIGHTSHIFT_MYSQLD"] = os.environ["NIGHTSHIFT_MYSQLD"]
    return kept | {"PATH": f"{programs}:{kept['PATH']}", "VIRTUAL_ENV": str(programs.parent)}


class Newcomer:
    """Types commands in one folder."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self.folder = folder
        self._environment = own_environment(programs)
        self._python = programs / "python"

    def nightshift(self, *arguments: object, code: int = 0, **how: Any) -> str:
        """Type `nightshift …`; return what it printed."""
        return self._type(["nightshift", *map(str, arguments)], code, how)

    def python(self, *arguments: object, code: int = 0, **how: Any) -> str:
        """Type `python …`; return what it printed."""
        return self._type([str(self._python), *map(str, arguments)], code, how)

    def _type(self, command: list[str], code: int, how: dict[str, Any]) -> str:
        done = subprocess.run(
            command,
            **{"cwd": self.folder, "env": self._environment, **how},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == code, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
        assert "launcher.py" not in done.stdout + done.stderr
        return done.stdout + done.stderr


def _run(command: list[str], folder: Path) -> None:
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
