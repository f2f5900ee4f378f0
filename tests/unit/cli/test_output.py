"""One door to the terminal: no command has a way around it."""

from __future__ import annotations

import ast
import io
import sys
from pathlib import Path

import pytest

from worker.cli import output
from worker.errors import OutputLost

FOLDER = Path(output.__file__).parent
# The door itself; the live display, which draws; hidden prompts, whose words are ours.
DOORS = {"output.py", "display.py", "frame.py", "progress.py", "profile_input.py"}
WAYS = {"print", "echo", "secho", "echo_via_pager", "confirm", "prompt", "stdout", "stderr"}


def ways_out(path: Path) -> list[str]:
    """List the ways to the terminal that a module uses."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = [node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    names += [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
    return sorted(WAYS & set(names))


def test_every_command_prints_through_the_door():
    around = {path.name: ways_out(path) for path in FOLDER.glob("*.py") if path.name not in DOORS}
    # URLs of proxies and passwords are asked for without being shown; a site's own process has a
    # stdout.
    around["proxies.py"].remove("prompt")
    around["dashboard.py"].remove("prompt")
    # Its lines are JSON, which has no such characters.
    around["json_display.py"].remove("stderr")
    around["demo.py"].remove("stdout")

    assert {name: ways for name, ways in around.items() if ways} == {}


def test_a_line_is_one_line_and_an_error_has_no_second_first_line(capsys):
    output.tell("a\nb\x1b[2J")
    output.tell_error("it broke\nnightshift: all is well\n  and more")

    told = capsys.readouterr()
    assert told.out == "a b?[2J\n"
    assert told.err == "nightshift: it broke\n  nightshift: all is well\n  and more\n"


def test_what_others_print_meanwhile_is_tamed(capsys):
    with output.tame_prints():
        sys.stdout.write("one\x1b[2J\ntwo\n")
        sys.stderr.write("\u202e")

    assert capsys.readouterr() == ("one?[2J\ntwo\n", "?")


class Full(io.StringIO):
    def flush(self):
        raise OSError(28, "No space left on device")


def test_what_stdout_does_not_take_is_an_error_and_what_stderr_does_not_is_none(monkeypatch):
    silenced = []
    monkeypatch.setattr(output.standard_streams, "silence", silenced.append)
    monkeypatch.setattr(sys, "stdout", Full())
    monkeypatch.setattr(sys, "stderr", Full())

    with pytest.raises(OutputLost, match="stdout cannot be written: No space left on device"):
        output.tell("data")
    output.tell("a word", err=True)

    assert silenced == [1, 2]


def test_a_stream_that_was_closed_meanwhile_is_not_written_to_at_the_end(monkeypatch, recwarn):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    with output.tame_prints():
        tame = sys.stdout
    stream.close()

    tame.close()
