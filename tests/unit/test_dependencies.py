"""What the package imports is what it says it needs: nothing comes only by way of another one."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

REPO = Path(__file__).parents[2]
PROJECT = tomllib.loads((REPO / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# The demo site is in the wheel; whoever tests tasks of their own has pytest.
OURS = {"worker", "nightshift", "examples"}
OF_TESTS = {"pytest"}


def named(requirements: list[str]) -> set[str]:
    """The packages that requirements name, without versions and extras."""
    return {normalised(re.match(r"[\w.-]+", each)[0]) for each in requirements}


def normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def declared_packages() -> set[str]:
    extras = PROJECT["optional-dependencies"].values()
    return named(PROJECT["dependencies"]).union(*map(named, extras))


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (each.name.partition(".")[0] for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module.partition(".")[0]


def test_every_package_that_is_imported_is_declared():
    files = [path for folder in ("worker", "nightshift") for path in (REPO / folder).rglob("*.py")]
    wanted = {name for path in files for name in imported(path)}
    wanted -= sys.stdlib_module_names | OURS | OF_TESTS
    declared = declared_packages()
    packages = packages_distributions()

    assert len(wanted) > 10
    assert {
        name for name in wanted if not declared & {normalised(each) for each in packages[name]}
    } == set()


def test_what_is_declared_is_pinned():
    pins = re.findall(r"^([\w.-]+)==", (REPO / "requirements.lock").read_text(), re.MULTILINE)

    assert declared_packages() <= set(map(normalised, pins))
