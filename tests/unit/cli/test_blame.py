"""A message begins with the flag when the flag was given, with its variable when that was."""

from __future__ import annotations

import pytest

from worker.cli import blame
from worker.cli.run import run


@pytest.fixture
def given(monkeypatch):
    """Read a command line, and tell from where each setting has its value."""

    def read(*arguments, **environ):
        for name, value in environ.items():
            monkeypatch.setenv(name, value)
        found = {}
        run.make_context("run", list(arguments), obj=found)
        return found

    return read


def test_the_command_line_says_who_gave_each_value(given):
    found = given("--browser", "/b", NIGHTSHIFT_BROWSER="/c", NIGHTSHIFT_TASKS="shop.py")

    assert found == {"--browser": "--browser", "--tasks": "NIGHTSHIFT_TASKS"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("NIGHTSHIFT_BROWSER: there is no /b", "--browser: there is no /b"),
        ("--browser /b is odd", "--browser /b is odd"),
        ("--tasks x.py: there is no such file", "NIGHTSHIFT_TASKS x.py: there is no such file"),
        # Neither was given, no setting at all, and advice further on.
        ("--headed needs a display", "--headed needs a display"),
        ("--nowhere is no flag", "--nowhere is no flag"),
        ("set NIGHTSHIFT_BROWSER to one", "set NIGHTSHIFT_BROWSER to one"),
    ],
)
def test_a_message_blames_who_gave_the_value(given, text, told):
    found = given("--browser", "/b", NIGHTSHIFT_TASKS="shop.py")

    assert blame.rightly(text, found) == told


def test_a_switch_is_known_by_the_flag_that_turns_it(given):
    found = given(NIGHTSHIFT_HEADED="1")

    assert blame.rightly("--headed needs a display", found) == "NIGHTSHIFT_HEADED needs a display"
