"""docs/architecture.md names what is there: its rooms are all, and its files exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WORKER = ROOT / "worker"
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
QUOTED = re.compile(r"`([^`]+)`")
# The walk of a job names a file once, and then only what is called in it.
SAME_FILE = "…"


def rows(heading: str) -> list[list[str]]:
    """Return the cells of the table of a chapter, without its head."""
    chapter = ARCHITECTURE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in chapter.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def rooms_named() -> set[str]:
    """Name every room and top-level module in the table of rooms."""
    found: set[str] = set()
    for room, content in rows("Rooms"):
        names = QUOTED.findall(content if room == "top" else room)
        found |= {name.rstrip("/").removesuffix(".py") for name in names if " " not in name}
    return found - {"nightshift.toml"}


def files_named() -> Iterator[tuple[str, str]]:
    """Give the file and what is called in it, for every step of a job's way."""
    path = ""
    for _, where, _ in rows("One job's way, from loop to settled"):
        for name in QUOTED.findall(where):
            words = name.removeprefix(SAME_FILE).split()
            path = words[0] if words[0].endswith(".py") else path
            yield path, words[-1].rpartition(".")[2] if not words[-1].endswith(".py") else ""


def test_every_room_and_module_is_named_in_the_table_and_the_other_way_round():
    there = {
        path.stem
        for path in WORKER.iterdir()
        if (path.suffix == ".py" and path.name != "__init__.py") or (path / "__init__.py").exists()
    }

    assert rooms_named() == there


@pytest.mark.parametrize("heading", ["Rooms", "By hand, and why"])
def test_every_file_that_a_table_names_is_there(heading):
    named = {name for row in rows(heading) for cell in row for name in QUOTED.findall(cell)}
    missing = {
        name
        for name in named
        if name.endswith(".py") and not any(WORKER.rglob(name.rpartition("/")[2]))
    }

    assert missing == set()


def test_every_step_of_a_jobs_way_is_where_the_table_says():
    steps = list(files_named())
    missing = [
        (path, name)
        for path, name in steps
        if not (WORKER / path).is_file()
        or not re.search(rf"(def|class) {name}\b", (WORKER / path).read_text(encoding="utf-8"))
    ]

    assert len(steps) >= 20
    assert missing == []
