"""What every `--help` says, and what a mistyped command is answered."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest

from worker.cli import main
from worker.cli.options import Duration
from worker.exit_codes import ExitCode


def every_command() -> Iterator[tuple[str, click.Command]]:
    yield "nightshift", main.cli
    context = click.Context(main.cli)
    for name in main.cli.list_commands(context):
        command = main.cli.get_command(context, name)
        assert command is not None
        yield name, command
        if isinstance(command, click.Group):
            inner = click.Context(command)
            for each in command.list_commands(inner):
                found = command.get_command(inner, each)
                assert found is not None
                yield f"{name} {each}", found


def help_of(command: click.Command, width: int = 100) -> str:
    return command.get_help(click.Context(command, terminal_width=width, max_content_width=width))


def test_every_help_names_the_exit_codes_and_the_form_of_a_duration():
    for name, command in every_command():
        text = help_of(command)
        assert "600, 90s, 10m, 6h, 30d" in text, name
        assert all(f"  {code:<4d} {code.meaning}" in text for code in ExitCode), name


def test_a_flag_that_takes_a_duration_says_so():
    for name, command in every_command():
        for option in command.params:
            if isinstance(option.type, Duration):
                shown = option.make_metavar(click.Context(command))
                assert shown == "DURATION", f"{name} {option.opts}"


@pytest.mark.parametrize("width", [80, 100])
def test_no_help_is_cut(width):
    for name, command in every_command():
        text = help_of(command, width)
        assert "...\n" not in text.partition("\n\n")[2], name


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["statsu"], "statsu is no command; did you mean status?"),
        (["enque", "x"], "enque is no command; did you mean enqueue?"),
        (["profiles", "lits"], "lits is no command; did you mean list?"),
        (["db", "stat"], "stat is no command; did you mean start?"),
        (["xyzzy"], "xyzzy is no command; see: launcher.py --help"),
        (["run", "--wrokers", "2"], "No such option '--wrokers'"),
    ],
)
def test_a_mistyped_word_is_answered_with_what_was_meant(capsys, monkeypatch, arguments, meant):
    monkeypatch.setenv("NIGHTSHIFT_ENV_FILE", "/dev/null")
    with pytest.raises(SystemExit) as caught:
        main.main(arguments)

    told = capsys.readouterr().err
    assert caught.value.code == ExitCode.USAGE
    assert meant in told
    assert told.count("\n") == 1
