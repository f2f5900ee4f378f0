"""Every command is found by its name, and every module's commands are known."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import click

from worker.cli import main

FOLDER = Path(main.__file__).parent


def test_the_table_of_commands_and_the_modules_agree():
    there = {}
    for path in FOLDER.glob("*.py"):
        module = importlib.import_module(f"worker.cli.{path.stem}")
        there |= {command.name: path.stem for command in getattr(module, "COMMANDS", ())}

    assert there == main.MODULES


def test_every_command_has_a_line_of_help():
    context = click.Context(main.cli)
    for name in main.cli.list_commands(context):
        command = main.cli.get_command(context, name)
        assert command is not None
        assert command.get_short_help_str(), name


def test_a_run_imports_nothing_that_only_some_runs_need():
    seldom = "rich httpx flask apprise opentelemetry xlsxwriter worker.dashboard "
    seldom += "worker.cli.run_report worker.reporting.charts"
    script = f"""
import gc, sys
import click
from worker.cli import main
main.cli.get_command(click.Context(main.cli), "run")
assert gc.isenabled()
sys.exit(" ".join(name for name in {seldom.split()} if name in sys.modules))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], stderr=subprocess.PIPE, text=True, timeout=60, check=False
    )

    assert done.stderr.split() == []


def test_a_group_without_a_command_lists_and_takes_the_flags_of_its_list():
    for name in ("accounts", "breakers", "limits", "profiles", "proxies"):
        group = main.cli.get_command(click.Context(main.cli), name)
        assert isinstance(group, click.Group)
        for arguments in ([], ["--json"]):
            context = group.make_context(name, list(arguments))
            assert [*context._protected_args, *context.args] == ["list", *arguments]
