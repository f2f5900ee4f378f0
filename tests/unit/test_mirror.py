"""Tests are found by the path of what they test; every file stays small enough to read."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"
# Whole runs (tests/lifecycle) go through every room: they are named after what happens.
MIRRORED = {
    TESTS / "unit": ROOT / "worker",
    TESTS / "integration": ROOT / "worker",
    TESTS / "browser": ROOT / "worker" / "browser",
}
LONGEST_FILE, LONGEST_FUNCTION = 300, 40


def python_files(*folders: Path) -> list[Path]:
    return sorted(path for folder in folders for path in folder.rglob("*.py"))


def written_by_hand() -> list[Path]:
    folders = ("worker", "nightshift", "tests", "bench", "examples", "deploy")
    return [ROOT / "launcher.py", *python_files(*(ROOT / name for name in folders))]


def files_of_tests(folder: Path) -> list[Path]:
    return sorted(folder.rglob("test_*.py"))


def modules_named(name: str) -> set[Path]:
    """Find the folders that have a module of this name."""
    return {path.parent for path in (ROOT / "worker").rglob(f"{name}.py")}


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize("tests", MIRRORED, ids=lambda path: path.name)
def test_every_folder_of_tests_is_a_room(tests):
    folders = {path.parent.relative_to(tests) for path in files_of_tests(tests)}
    strange = {
        str(folder)
        for folder in folders
        if folder != Path("examples") and not (MIRRORED[tests] / folder / "__init__.py").exists()
    }

    assert strange == set()


@pytest.mark.parametrize("tests", MIRRORED, ids=lambda path: path.name)
def test_a_file_named_after_a_module_is_in_that_modules_room(tests):
    astray = []
    for path in files_of_tests(tests):
        rooms = modules_named(path.stem.removeprefix("test_"))
        if rooms and MIRRORED[tests] / path.parent.relative_to(tests) not in rooms:
            astray.append(str(path.relative_to(ROOT)))

    assert astray == []


def test_a_unit_test_imports_something_of_its_room():
    astray = []
    for path in files_of_tests(TESTS / "unit"):
        folder = path.parent.relative_to(TESTS / "unit")
        if folder in (Path(), Path("examples")):
            continue
        room = ".".join(("worker", *folder.parts))
        if not any(f"{name}.".startswith(f"{room}.") for name in imported(path)):
            astray.append(str(path.relative_to(ROOT)))

    assert astray == []


def test_no_test_imports_from_a_file_of_tests():
    borrowed = [
        (str(path.relative_to(ROOT)), name)
        for path in python_files(TESTS)
        for name in imported(path)
        if name.startswith("tests.") and ".test_" in name
    ]

    assert borrowed == []


def test_no_file_is_long():
    long = [
        (str(path.relative_to(ROOT)), count)
        for path in written_by_hand()
        if (count := len(path.read_text(encoding="utf-8").splitlines())) > LONGEST_FILE
    ]

    assert long == []


def test_no_function_is_long():
    long = [
        (str(path.relative_to(ROOT)), node.name)
        for path in written_by_hand()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno - node.lineno + 1 > LONGEST_FUNCTION
    ]

    assert long == []
