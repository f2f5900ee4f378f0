"""What is public in worker/ is used there: code that only tests use goes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
WORKER = ROOT / "worker"
# Frameworks call these by their names, or task authors do.
CALLED_FROM_OUTSIDE = {
    "do_GET", "log_message",  # http.server
    "format_commands", "get_error_hint", "split_envvar_value",  # click
    "on_broken_pipe",  # rich
    "emit",  # logging
    "writable",  # io
    "needs_review", "push",  # a task's job
}  # fmt: skip
# A function under one of these is registered by its decorator.
REGISTERING = re.compile(r"\.(command|get|post)\(|^task\(")


def used_in(tree: ast.AST) -> Iterator[str]:
    """Give every name that code reads, also as a text, as for getattr."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.alias):
            yield node.name.rpartition(".")[2]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def defined_in(tree: ast.AST) -> Iterator[str]:
    """Give every public function, method and class that nothing registers where it is defined."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            decorators = map(ast.unparse, node.decorator_list)
            if not any(map(REGISTERING.search, decorators)):
                yield node.name


def test_whatever_is_public_is_used_outside_of_tests():
    code = [*WORKER.rglob("*.py"), *(ROOT / "nightshift").rglob("*.py"), ROOT / "launcher.py"]
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in code}
    used = {name for tree in trees.values() for name in used_in(tree)}
    for page in WORKER.rglob("*.html"):
        used.update(re.findall(r"\w+", page.read_text(encoding="utf-8")))
    unused = {
        (str(path.relative_to(ROOT)), name)
        for path, tree in trees.items()
        for name in defined_in(tree)
        if name not in used
    }

    assert {name for _, name in unused} >= CALLED_FROM_OUTSIDE, "an exception is needless"
    assert {each for each in unused if each[1] not in CALLED_FROM_OUTSIDE} == set()
