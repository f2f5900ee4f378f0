"""Flags of a run come from its settings: name, variable, default, check and help."""

from __future__ import annotations

import re
from dataclasses import MISSING, fields
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from worker.cli.options import run_settings
from worker.cli.run import run
from worker.database_settings import DatabaseSettings
from worker.errors import UsageError
from worker.settings import RunSettings, flag_fields, flag_name

# Where a value comes from is no flag's business.
NO_FLAGS = {"database", "state_dir"}


@pytest.fixture
def parsed(monkeypatch):
    """Read flags and variables as `run` does; return the settings they stand for."""

    def parse(*arguments, **environ):
        for name, value in environ.items():
            monkeypatch.setenv(name, value)
        context = run.make_context("run", [str(argument) for argument in arguments])
        context.params.pop("as_json")
        return RunSettings(DatabaseSettings(), **context.params)

    return parse


def test_every_setting_but_the_database_is_a_flag_with_help():
    names = {each.name for each in fields(RunSettings)}

    assert {each.name for each in flag_fields()} == names - NO_FLAGS
    for each in flag_fields():
        assert each.metadata["flag"].help.rstrip("]").rstrip()


def test_without_flags_a_run_has_the_declared_defaults(parsed):
    assert parsed() == RunSettings(DatabaseSettings())


def test_every_flag_has_its_variable():
    for option in run.params:
        if option.name == "as_json":
            continue
        (flag,) = option.opts
        assert option.envvar == "NIGHTSHIFT_" + flag[2:].replace("-", "_").upper()


def test_a_flag_wins_over_its_variable(parsed):
    assert parsed(NIGHTSHIFT_LEASE="10s").lease_seconds == 10
    assert parsed("--lease", "2m", NIGHTSHIFT_LEASE="10s").lease_seconds == 120


def test_flags_are_read_as_what_they_are_declared(parsed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    settings = parsed(
        *("--workers", 3, "--tasks", "a.py", "--tasks", "b.py", "--no-help", "--headed"),
        *("--errors-dir", "here", "--callback-url", "", "--if-locked", "wait"),
    )

    assert (settings.workers, settings.total) == (3, 3)
    assert settings.tasks == ("a.py", "b.py")
    assert not settings.help_others
    assert not settings.headless
    assert settings.errors_dir == tmp_path / "here"
    assert settings.callback_url is None
    assert settings.if_locked == "wait"


def test_a_switch_can_be_a_variable(parsed):
    settings = parsed(NIGHTSHIFT_NO_HELP="1", NIGHTSHIFT_FOLLOW="true", NIGHTSHIFT_HEADED="0")

    assert (settings.help_others, settings.follow, settings.headless) == (False, True, True)


@pytest.mark.parametrize(
    "each",
    [each for each in flag_fields() if each.metadata["flag"].least is not None],
    ids=lambda each: each.name,
)
def test_a_command_that_shares_a_setting_shares_its_check(each):
    @click.command()
    @run_settings(each.name)
    def command(**values):
        raise AssertionError(values)

    result = CliRunner().invoke(command, [flag_name(each), str(each.metadata["flag"].least - 1)])

    assert isinstance(result.exception, UsageError)
    assert re.match(rf"{flag_name(each)} \S+ is too small; give ", str(result.exception))


def test_the_default_in_help_is_the_default_in_the_settings():
    for each in flag_fields():
        (option,) = [option for option in run.params if option.name == each.name]
        default = each.default if each.default is not MISSING else each.default_factory()
        if isinstance(default, bool) or default is None:
            continue
        assert option.type_cast_value(click.Context(run), option.default) == default
        assert not isinstance(default, Path) or default.is_absolute()


@pytest.mark.parametrize("value", ["x", "0"], ids=["no number", "out of range"])
@pytest.mark.parametrize(
    ("arguments", "environ", "named", "other"),
    [
        (["--workers"], {}, "--workers", "NIGHTSHIFT_WORKERS"),
        ([], "NIGHTSHIFT_WORKERS", "NIGHTSHIFT_WORKERS", "--workers"),
    ],
    ids=["flag", "variable"],
)
def test_what_is_wrong_is_said_of_the_flag_or_the_variable_that_gave_it(
    parsed, arguments, environ, named, other, value
):
    given = [*arguments, value] if arguments else []
    with pytest.raises((UsageError, click.UsageError)) as refusal:
        parsed(*given, **({environ: value} if environ else {}))

    error = refusal.value
    told = error.format_message() if isinstance(error, click.UsageError) else str(error)
    assert named in told
    assert other not in told
