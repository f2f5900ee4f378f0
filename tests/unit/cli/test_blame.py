"""A message begins with the flag when the flag was given, with its variable when that was."""

from __future__ import annotations

import os

import pytest

from worker.cli import blame
from worker.cli.run import run
from worker.project_file import load_settings


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


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("--until 25:00 is odd", "nightshift.toml [run] until 25:00 is odd"),
        ("NIGHTSHIFT_UNTIL 25:00 is odd", "nightshift.toml [run] until 25:00 is odd"),
        ("DATABASE_URL names no database", ".env DATABASE_URL names no database"),
        ("MYSQL_HOST is odd", "MYSQL_HOST is odd"),
    ],
)
def test_a_message_blames_the_file_that_holds_the_value(monkeypatch, tmp_path, text, told):
    (tmp_path / "nightshift.toml").write_text('[run]\nuntil = "25:00"\n')
    (tmp_path / ".env").write_text("DATABASE_URL=mysql://a\n")
    monkeypatch.delenv("DATABASE_URL", raising=False)
    monkeypatch.delenv("NIGHTSHIFT_ENV_FILE", raising=False)
    # Through monkeypatch, so that what is loaded is taken back.
    known = {**os.environ, "NIGHTSHIFT_PROJECT": str(tmp_path)}
    found = load_settings(known)
    for name in found:
        monkeypatch.setenv(name, known[name])
    run.make_context("run", [], obj=found)

    assert blame.rightly(text, found) == told


def test_what_the_environment_has_is_not_said_to_be_the_files(tmp_path):
    (tmp_path / "nightshift.toml").write_text('[run]\nuntil = "25:00"\nlease = "5m"\n')
    (tmp_path / ".env").write_text("NIGHTSHIFT_LEASE=6m\nNIGHTSHIFT_TASKS=shop.py\n")

    found = load_settings(
        {"NIGHTSHIFT_PROJECT": str(tmp_path), "NIGHTSHIFT_UNTIL": "6:00", "NIGHTSHIFT_TASKS": ""}
    )

    assert found == {"NIGHTSHIFT_LEASE": ".env NIGHTSHIFT_LEASE"}
