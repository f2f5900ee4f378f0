"""Advice names commands as they can be typed: `make` only where there is a Makefile."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TARGETS = re.findall(r"^([a-z][a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
ADVICE = re.compile(rf"\bmake ({'|'.join(TARGETS)})\b")
# What `as_typed` writes anew, and what says or is known to be of a checkout.
ALLOWED = re.compile(r"`make setup`|in a checkout: make [a-z-]*|, then make setup$")


def texts(path: Path) -> Iterator[str]:
    if path.suffix != ".py":
        yield path.read_text()
        return
    tree = ast.parse(path.read_text())
    told = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and id(node) not in told:
            yield node.value


FILES = [
    path
    for kind in ("*.py", "*.html")
    for path in sorted((ROOT / "worker").rglob(kind))
    if "_bundle" not in path.parts
]


def advice(path: Path) -> list[str]:
    return [name for text in texts(path) for name in ADVICE.findall(ALLOWED.sub("", text))]


def test_the_makefile_is_read():
    assert {"setup", "sweep", "run", "dashboard"} <= set(TARGETS)
    assert len(FILES) > 200


@pytest.mark.parametrize(
    "room", sorted({path.relative_to(ROOT / "worker").parts[0] for path in FILES})
)
def test_no_advice_names_a_make_command_that_an_installed_project_has_not(room):
    mine = [path for path in FILES if path.relative_to(ROOT / "worker").parts[0] == room]

    assert {str(path): named for path in mine if (named := advice(path))} == {}
