"""Exit codes: the numbers are fixed, and every place that names them takes them from the table."""

from __future__ import annotations

from pathlib import Path

import click

from worker import errors
from worker.cli import main
from worker.exit_codes import ExitCode

README = Path(__file__).parents[2] / "README.md"


def test_the_numbers_are_fixed():
    assert [int(code) for code in ExitCode] == [0, 1, 2, 10, 11, 69, 75, 78, 130]


def test_help_names_every_code_with_its_meaning():
    context = click.Context(main.cli)
    for command in (main.cli, main.cli.get_command(context, "run")):
        text = command.get_help(click.Context(command, max_content_width=100, terminal_width=100))
        for code in ExitCode:
            assert f"{code:d}" in text
            assert code.meaning in text


def test_the_readme_names_every_code():
    text = README.read_text(encoding="utf-8")
    for code in ExitCode:
        assert f"| {code:d} | {code.meaning} |" in text


def test_every_error_ends_in_a_code_of_the_table():
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    codes = {kind.exit_code for kind in kinds if issubclass(kind, errors.NightshiftError)}

    assert all(isinstance(code, ExitCode) for code in codes)
