"""Flags of a run come from its settings: name, variable, default, check and help."""

from __future__ import annotations

import re
from dataclasses import MISSING, fields
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from worker.cli.archive import archive
from worker.cli.options import run_settings
from worker.cli.run import run
from worker.database_settings import DatabaseSettings
from worker.errors import SettingsError, UsageError
from worker.flags import parse_duration
from worker.settings import RunSettings, flag_fields, flag_name

# Where a value comes from is no flag's business.
NO_FLAGS = {"database", "state_dir", "elsewhere"}


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


def test_the_number_of_workers_can_be_left_to_the_run(parsed):
    settings = parsed("--workers", "auto:12")

    assert (settings.workers, settings.finds_number) == (12, True)
    assert parsed(NIGHTSHIFT_WORKERS="auto").finds_number
    assert not parsed("--workers", "12").finds_number
    with pytest.raises(click.BadParameter, match="write 6, auto or auto:12"):
        parsed("--workers", "many")
    with pytest.raises(UsageError, match="too small"):
        parsed("--workers", "auto:0")


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


@pytest.mark.parametrize(
    ("arguments", "environ", "told"),
    [
        (["--workers", "0"], {}, "--workers 0 is too small"),
        ([], {"NIGHTSHIFT_WORKERS": "0"}, "NIGHTSHIFT_WORKERS 0 is too small"),
        (["--workers", "100000"], {}, "--workers 100000 is too large; give 1000 or less"),
        (["--fail-over", "-1"], {}, "--fail-over -1 is too small; give 0 or more"),
        (["--workers", "0"], {"NIGHTSHIFT_WORKERS": "3"}, "--workers 0 is too small"),
    ],
)
def test_a_value_out_of_range_is_blamed_on_who_gave_it(parsed, arguments, environ, told):
    with pytest.raises(UsageError, match=told):
        parsed(*arguments, **environ)


@pytest.mark.parametrize(
    ("arguments", "environ", "blamed"),
    [
        (["--lease", "soon"], {"NIGHTSHIFT_LEASE": "5s"}, "'--lease'"),
        ([], {"NIGHTSHIFT_LEASE": "soon"}, "'NIGHTSHIFT_LEASE'"),
        ([], {"NIGHTSHIFT_TRACE": "maybe"}, "'NIGHTSHIFT_TRACE'"),
    ],
)
def test_a_value_that_cannot_be_read_is_blamed_on_who_gave_it(parsed, arguments, environ, blamed):
    with pytest.raises(click.BadParameter) as caught:
        parsed(*arguments, **environ)

    assert f"Invalid value for {blamed}: " in caught.value.format_message()


def test_a_variable_holds_several_sources_quoted_as_in_a_shell(parsed):
    settings = parsed(NIGHTSHIFT_TASKS="shop.py 'my tasks/other.py' own.module")

    assert settings.tasks == ("shop.py", "my tasks/other.py", "own.module")


def test_a_variable_with_a_quote_too_many_is_refused(parsed):
    with pytest.raises(SettingsError, match="NIGHTSHIFT_TASKS cannot be read"):
        parsed(NIGHTSHIFT_TASKS="'shop.py")


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


def test_arguments_and_patterns_are_repeated_as_flags_and_quoted_in_variables(parsed):
    settings = parsed("--browser-args", "--lang=de", "--browser-args=--a b", "--block", "image")
    assert settings.browser_args == ("--lang=de", "--a b")
    assert settings.block == ("image",)

    settings = parsed(NIGHTSHIFT_BROWSER_ARGS="--lang=de '--a b'", NIGHTSHIFT_BLOCK="image font")
    assert settings.browser_args == ("--lang=de", "--a b")
    assert settings.block == ("image", "font")


def test_a_variable_of_words_with_a_quote_too_many_is_refused(parsed):
    with pytest.raises(click.BadParameter, match="cannot be taken apart as a shell would"):
        parsed(NIGHTSHIFT_BLOCK="'image")


@pytest.mark.parametrize(
    ("text", "more", "noted"),
    [
        ("30", [], "note: --older-than 30 is 30 seconds; write 30h or 30d for hours or days"),
        ("30", ["--quiet"], ""),
        ("30s", [], ""),
        ("30d", [], ""),
        ("3600", [], ""),
        ("0", [], ""),
    ],
)
def test_a_small_bare_age_is_said_to_be_seconds(capsys, text, more, noted):
    with archive.make_context("archive", ["--older-than", text, *more]) as context:
        assert context.params["older_than"] == parse_duration(text)

    told = capsys.readouterr().err
    assert noted in told
    assert bool(noted) == bool(told)
