"""The page for 2 a.m. and the files under deploy/ name commands and flags that there are."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from worker.cli.main import cli

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "operating.md"
DEPLOYED = [ROOT / "deploy" / "cron" / "nightshift", ROOT / "deploy/systemd/nightshift.service"]


def documented() -> list[str]:
    """Every `python launcher.py …` of the page and of the files, without what the shell adds."""
    blocks = re.findall(r"^```(?:sh|ini)\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    inline = re.findall(r"`((?:python )?launcher\.py [^`]+)`", PAGE.read_text())
    texts = [*blocks, *inline, *(path.read_text() for path in DEPLOYED)]
    lines = [line for text in texts for line in text.splitlines()]
    found = [line.partition("launcher.py ")[2] for line in lines if "launcher.py " in line]
    return sorted({re.split(r"\s(?:>>|2>&1|&&|\|)", each)[0].strip() for each in found})


def parse(arguments: list[str]) -> None:
    """Read a command line as it would be read, without doing what it says."""
    command: click.Command = cli
    context = cli.make_context("launcher.py", arguments)
    while isinstance(command, click.Group):
        rest = [*context._protected_args, *context.args]
        name, command, rest = command.resolve_command(context, rest)
        context = command.make_context(name, rest, parent=context)


@pytest.mark.parametrize("line", documented())
def test_a_documented_command_is_understood(line):
    parse(shlex.split(re.sub(r"\bID\b", "4711", line), comments=True))


def test_there_are_many_of_them():
    assert len(documented()) > 40


def test_a_command_that_is_not_there_would_be_found():
    with pytest.raises(click.UsageError):
        parse(["status", "--no-such-flag"])


def test_every_link_within_the_page_leads_to_a_heading():
    text = PAGE.read_text()
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings}

    assert set(re.findall(r"\]\(#([^)]+)\)", text)) <= anchors


def test_every_file_that_the_page_names_is_there():
    named = re.findall(r"\b(deploy/[\w/.-]+\w)", PAGE.read_text())

    assert named
    assert all((ROOT / name).exists() for name in named)
