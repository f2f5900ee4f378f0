"""Help texts and docs are in plain English: the riddles of the first version do not come back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from worker.cli.main import cli

ROOT = Path(__file__).parents[3]
DOCS = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
RIDDLES = {
    "Told of the outcome of jobs without one of theirs": "say whose webhook it is",
    "a job is killed after": "say how long a job may overrun its timeout",
    "claims are not swept before": "say how long to wait before sweeping",
    "with leave": "say which permission",
    "about what (its|their) names? says?": "leave it out",
    "[Tt]exts are taken as": "say what is converted to what",
    "is for good": "say what cannot be changed later",
    r"(?<![\d.,])1 (attempts|jobs|pending jobs|runs|profiles)\b": "use the singular",
    "of the run's cap": "name the limit",
    r"\bMean the\b": "say what is chosen",
    "None when there is one": "say when it is empty",
    r"[Aa]t most so (many|much|long)\b": "name the number",
    r"\b(for|last|after|within) so (long|many|much)\b(?! (a|an|as|that)\b)": "name the number",
    r"^So (many|much|long)\b": "name the number",
}


def commands(group: click.Command = cli, path: str = "") -> Iterator[tuple[str, click.Command]]:
    yield path or "launcher.py", group
    if isinstance(group, click.Group):
        context = click.Context(group)
        for name in group.list_commands(context):
            found = group.get_command(context, name)
            assert found is not None
            yield from commands(found, f"{path} {name}".strip())


def texts_of_help() -> Iterator[tuple[str, str]]:
    for name, command in commands():
        yield name, command.help or ""
        for option in command.params:
            yield f"{name} {option.opts[0]}", getattr(option, "help", None) or ""


def texts() -> Iterator[tuple[str, str]]:
    yield from texts_of_help()
    for path in DOCS:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            yield f"{path.name}:{number}", line


@pytest.mark.parametrize("riddle", RIDDLES)
def test_no_help_text_and_no_page_speaks_in_riddles(riddle):
    found = [(place, text) for place, text in texts() if re.search(riddle, text)]

    assert found == [], RIDDLES[riddle]


def test_every_command_and_option_is_looked_at():
    places = {place for place, _ in texts_of_help()}

    assert {"run --workers", "profiles cookies --keep-session", "dashboard serve --https"} <= places
