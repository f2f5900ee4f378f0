"""Decide what is in a wheel: the one package `nightshift`, with everything else inside it.

In the checkout the inside is the package `worker`. Many projects have a module of that name, so in
a wheel it is `nightshift._worker`, and whatever imports it is rewritten to say so.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGE, INSIDE = "nightshift", "_worker"
# What stands beside `worker/` in the checkout; worker/installation.py finds it in there.
BUNDLED = ("sql", "examples/demo_site")
_IMPORT = re.compile(r"^(\s*(?:from|import) )worker(?=[. ])", re.MULTILINE)
# What would still mean the package by its old name: as a text, or by `import worker.errors`.
_LEFT = re.compile(
    r"[\"']worker\.[a-z]|sys\.modules\[[\"']worker|^\s*import worker\b", re.MULTILINE
)
_LEAVINGS = shutil.ignore_patterns("__pycache__", "*.pyc")


class WheelFiles(BuildHookInterface[Any]):
    """Called by hatchling while it builds a wheel; an editable one is the checkout itself."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Say what goes into the wheel."""
        if version == "editable":
            return
        self._folder = TemporaryDirectory(prefix="nightshift-wheel-")
        package = stage(Path(self.root), Path(self._folder.name))
        build_data["force_include"][str(package)] = PACKAGE

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was only for the wheel."""
        if version != "editable":
            self._folder.cleanup()


def stage(root: Path, folder: Path) -> Path:
    """Write the package into a folder, as it is installed; raises ValueError for what cannot be."""
    package = folder / PACKAGE
    shutil.copytree(root / PACKAGE, package, ignore=_LEAVINGS)
    shutil.copytree(root / "worker", package / INSIDE, ignore=_LEAVINGS)
    for each in BUNDLED:
        shutil.copytree(root / each, package / INSIDE / "_bundle" / each, ignore=_LEAVINGS)
    for path in _python_files(package):
        text = path.read_text(encoding="utf-8")
        if found := _LEFT.search(text):
            raise ValueError(f"{path.relative_to(folder)}: {found[0].strip()} is not found there")
        path.write_text(_IMPORT.sub(rf"\g<1>{PACKAGE}.{INSIDE}", text), encoding="utf-8")
    return package


def _python_files(folder: Path) -> Iterator[Path]:
    return folder.rglob("*.py")
