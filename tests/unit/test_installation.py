"""Where Nightshift's own files are, and how its commands are named in messages."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest

from worker import installation

REPO = Path(__file__).parents[2]


@pytest.fixture
def bundle(tmp_path, monkeypatch):
    """Let this code look as if it were installed: a wheel has the bundle."""
    (tmp_path / "sql").mkdir()
    monkeypatch.setattr(installation, "_BUNDLE", tmp_path)
    return tmp_path


@pytest.fixture
def typed(monkeypatch):
    monkeypatch.setattr(installation, "_command", None)
    monkeypatch.setattr(installation, "_project", "")
    return monkeypatch


def test_in_the_checkout_its_own_folders_are_used(typed):
    assert installation.own_files() == installation.checkout() == REPO
    assert installation.launcher() == [sys.executable, str(REPO / "launcher.py")]
    assert installation.command_name() == "launcher.py"


def test_installed_everything_is_in_the_bundle(bundle, typed):
    assert installation.own_files() == bundle
    assert installation.checkout() is None
    assert installation.launcher() == [sys.executable, "-m", "nightshift"]
    assert installation.command_name() == "nightshift"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("continue with: launcher.py resume", "continue with: nightshift resume"),
        ("start a run: python launcher.py", "start a run: nightshift"),
        ("start it: python launcher.py --workers 6", "start it: nightshift --workers 6"),
        ("`launcher.py todo`", "`nightshift todo`"),
        ("<code>launcher.py errors</code>", "<code>nightshift errors</code>"),
        ('File "/srv/launcher.py", line 3', 'File "/srv/launcher.py", line 3'),
        ("my_launcher.py run", "my_launcher.py run"),
        ("launcher.pyc", "launcher.pyc"),
        ("run `make setup`", f"run {installation._SETUP_BY_HAND}"),
    ],
)  # fmt: skip
def test_installed_messages_name_the_installed_command(bundle, typed, text, told):
    assert installation.as_typed(text) == told


@pytest.mark.parametrize("word", ["$(id)", "x;id;", "`id`", "a b", "it's", "\n", "..", "…"])
def test_a_shell_reads_a_command_as_the_words_that_it_was_made_of(word):
    line = installation.command_line("breakers", "close", word, 7)

    assert shlex.split(line) == ["launcher.py", "breakers", "close", word, "7"]


def test_no_command_is_put_together_by_hand():
    """A value in a command's text is quoted by `command_line`, wherever it comes from."""
    by_hand = re.compile(r"launcher\.py(?: [\w-]+)* (?:\{|%s|' ~)")
    folder = REPO / "worker"
    lines = [
        f"{path.relative_to(REPO)}: {line.strip()}"
        for path in [*folder.rglob("*.py"), *folder.rglob("*.html")]
        for line in path.read_text().splitlines()
        if by_hand.search(line)
    ]
    assert lines == []


def test_in_the_checkout_messages_stay_as_they_are(typed):
    assert installation.as_typed("launcher.py resume") == "launcher.py resume"


def test_whoever_typed_nightshift_reads_nightshift(typed):
    installation.use_command("nightshift")

    assert installation.as_typed("python launcher.py resume") == "nightshift resume"


def test_messages_name_the_project_that_was_named_by_the_flag(typed):
    installation.use_project("/srv/my shop")

    told = installation.as_typed("see: launcher.py show 7, then launcher.py")

    named = "launcher.py --project '/srv/my shop'"
    assert told == f"see: {named} show 7, then {named}"
    assert installation.as_typed(told) == told


def test_so_do_those_of_the_installed_command(bundle, typed):
    installation.use_project("shop")

    assert installation.as_typed("run `launcher.py todo`") == "run `nightshift --project shop todo`"
