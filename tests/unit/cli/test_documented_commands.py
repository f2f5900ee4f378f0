"""Every page of the docs, and the files under deploy/, name commands and flags that there are."""

from __future__ import annotations

import re
import shlex
from contextlib import nullcontext, suppress
from pathlib import Path

import click
import pytest

from worker.cli.main import MODULES, cli

ROOT = Path(__file__).parents[3]
README = ROOT / "README.md"
PAGE = ROOT / "docs" / "operating.md"
PAGES = [README, *sorted((ROOT / "docs").glob("*.md"))]
DEPLOYED = [ROOT / "deploy" / "cron" / "nightshift", ROOT / "deploy/systemd/nightshift.service"]
# Where a line of the shell has one of our commands, and what stands in for what is to be filled in.
CALLED = re.compile(
    r"(?:\blauncher\.py|^(?:docker compose exec \w+ )?nightshift|^docker compose run --rm \w+)"
    r"(?:\s+|$)(.*)"
)
FENCED = r"^```(\w*)\n(.*?)^```"
SHOWN = ("sh", "ini", "cron", "")
STAND_INS = {"ID": "4711", "JSON": "{}", "RUN": "118"}


def documented(path: Path) -> list[str]:
    """Every command of a page or a file, without what the shell adds."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        fenced = re.findall(FENCED, text, re.MULTILINE | re.DOTALL)
        blocks = [block for kind, block in fenced if kind in SHOWN]
        rest = re.sub(FENCED, "", text, flags=re.MULTILINE | re.DOTALL)
        inline = re.findall(r"`((?:(?:python )?launcher\.py|nightshift) [^`]+)`", rest)
        text = "\n".join([*blocks, *(re.sub(r"\s+", " ", each) for each in inline)])
    calls = [call for line in text.splitlines() for call in line.split(" · ")]
    found = [match[1] for call in calls if (match := CALLED.search(call))]
    return sorted({re.split(r"\s(?:>>|2>&1|&&|\|)", each)[0].strip() for each in found})


def parse(arguments: list[str]) -> None:
    """Read a command line as it would be read, without doing what it says."""
    command: click.Command = cli
    context = cli.make_context("launcher.py", arguments)
    while isinstance(command, click.Group):
        rest = [*context._protected_args, *context.args]
        name, command, rest = command.resolve_command(context, rest)
        context = command.make_context(name, rest, parent=context)


@pytest.mark.parametrize(
    ("page", "line"),
    [
        pytest.param(path, line, id=f"{path.name}: {line}")
        for path in (*PAGES, *DEPLOYED)
        for line in documented(path)
    ],
)
def test_a_documented_command_is_understood(page, line):
    # A flag in brackets may be left out.
    words = shlex.split(re.sub(r"\[([\w-]+)\]", r"\1", line), comments=True)
    # Prose names a command by its name alone, whatever else that wants.
    with suppress(click.MissingParameter) if len(words) == 1 else nullcontext():
        parse([STAND_INS.get(word, word) for word in words if word != "--help"])


def test_there_are_many_of_them():
    assert len(documented(PAGE)) > 40
    assert sum(len(documented(path)) for path in PAGES) > 150


def test_a_command_that_is_not_there_would_be_found():
    with pytest.raises(click.UsageError):
        parse(["status", "--no-such-flag"])


def test_the_table_of_commands_names_those_that_there_are():
    table = README.read_text(encoding="utf-8").partition("\n## Commands\n")[2].partition("\n## ")[0]
    named = set(re.findall(r"`… ([a-z]+)", table))

    assert len(named) > 30
    assert named <= set(MODULES)


@pytest.mark.parametrize("page", [README, ROOT / "docs" / "install.md"], ids=lambda path: path.name)
def test_a_newcomer_is_told_to_write_the_file_that_is_enqueued(page):
    text = page.read_text(encoding="utf-8")
    for block in re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        before, enqueued, _ = block.partition("enqueue urls.txt")
        if enqueued and "price" not in block:
            assert "> urls.txt" in before


def test_every_link_within_the_page_leads_to_a_heading():
    text = PAGE.read_text()
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings}

    assert set(re.findall(r"\]\(#([^)]+)\)", text)) <= anchors


def test_every_file_that_the_page_names_is_there():
    named = re.findall(r"\b(deploy/[\w/.-]+\w)", PAGE.read_text())

    assert named
    assert all((ROOT / name).exists() for name in named)
