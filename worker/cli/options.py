"""Flags and their variables: `--errors-dir` is `NIGHTSHIFT_ERRORS_DIR`, for every flag of `run`."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import Field
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from worker.cli import blame
from worker.cli.output import tell
from worker.flags import Flag, parse_duration
from worker.project import errors_dir
from worker.queue_names import queue_problem
from worker.settings import flag_fields, flag_name, split_sources, variable_name
from worker.urls import callback_url_problem

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
# Bare numbers up to a year of days.
LIKELY_DAYS = 366


class Setting(click.Option):
    """A flag with a variable: what is wrong is said of the one that gave the value."""

    def given_as(self, ctx: click.Context) -> str:
        """Name the flag, or the variable or the file's key if the value is from there."""
        if ctx.get_parameter_source(self.name or "") is ParameterSource.ENVIRONMENT:
            return blame.given_by(ctx, str(self.envvar))
        return self.opts[0]

    def get_error_hint(self, ctx: click.Context | None) -> str:
        return f"'{self.opts[0] if ctx is None else self.given_as(ctx)}'"


class Duration(click.ParamType[float]):
    """`600`, `90s`, `10m`, `6h` or `30d`, as seconds."""

    name = "duration"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        if isinstance(value, (int, float)):
            return float(value)
        try:
            return parse_duration(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


class Age(Duration):
    """A duration that people give in days: a small bare number is probably meant so."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        seconds = super().convert(value, param, ctx)
        text = str(value).strip()
        is_quiet = ctx is not None and ctx.params.get("quiet")
        if text.isdigit() and 0 < seconds <= LIKELY_DAYS and param is not None and not is_quiet:
            tell(
                f"nightshift: note: {param.opts[0]} {text} is {text} seconds; "
                f"write {text}h or {text}d for hours or days",
                err=True,
            )
        return seconds


class CallbackUrl(click.ParamType[str]):
    """Where to send webhooks; a wrong one is not repeated, because it may hold a password."""

    name = "url"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value and (problem := callback_url_problem(str(value))):
            self.fail(problem, param, ctx)
        return str(value)


class QueueName(click.ParamType[str]):
    """The name of a queue."""

    name = "name"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if problem := queue_problem(str(value)):
            self.fail(problem, param, ctx)
        return str(value)


class Parsed(click.ParamType[Any]):
    """A value that its setting reads itself: `6` or `auto:12`."""

    name = "value"

    def __init__(self, parse: Callable[[str], Any]) -> None:
        self._parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return self._parse(value) if isinstance(value, str) else value
        except ValueError as error:
            self.fail(str(error), param, ctx)


class TaskSource(click.ParamType[str]):
    """A file, folder or module with tasks; its variable holds several, quoted as in a shell."""

    name = "file_or_module"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return str(value)

    def split_envvar_value(self, rv: str) -> list[str]:
        return split_sources(rv)


class Words(click.ParamType[str]):
    """One of several words; the variable holds all of them, quoted as in a shell."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return str(value)

    def split_envvar_value(self, rv: str) -> list[str]:
        try:
            return shlex.split(rv)
        except ValueError as error:
            self.fail(f"{rv[:80]!r} cannot be taken apart as a shell would: {error}")


DURATION = Duration()
AGE = Age()
QUEUE = QueueName()
CALLBACK_URL = CallbackUrl()

# How a setting's declared type is given on the command line.
_KINDS: dict[str, dict[str, Any]] = {
    "bool": {"is_flag": True},
    "int": {"type": int},
    "float": {"type": DURATION},
    "str": {"type": str},
    "Path": {"type": click.Path(path_type=Path)},
    "tuple[str, ...]": {"multiple": True},
}

# Settings of several words that may have spaces in them.
OF_WORDS = ("browser_args", "block")
# Everything that says which browser is used and how: for commands that open one.
OF_BROWSER = (
    *("browser", "browser_type", "browser_channel", "browser_args", "headless"),
    *("slow_mo_seconds", "browser_context", "block", "deny_private"),
    "respect_robots",
)
# And where it is, if that is not here.
OF_ELSEWHERE = ("browser_endpoint", "endpoint_context")


def run_settings(*names: str) -> Decorator:
    """Give a command the flags of a run's settings: the ones that are named, or all of them."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for each in reversed(flag_fields()):
            if not names or each.name in names:
                command = _option(each)(command)
        return command

    return decorate


def _option(each: Field[Any]) -> Decorator:
    flag: Flag = each.metadata["flag"]
    name = flag_name(each)
    attributes = dict(_KINDS[str(each.type).removesuffix(" | None")])
    if flag.choices:
        attributes["type"] = click.Choice(flag.choices)
    if flag.parse:
        attributes["type"] = Parsed(flag.parse)
    elif each.name == "tasks":
        attributes["type"] = TaskSource()
    elif each.name in OF_WORDS:
        attributes["type"] = Words()
    default = flag.default() if callable(flag.default) else flag.default
    if "is_flag" not in attributes and default is not None:
        attributes |= {"default": default, "show_default": default != ()}

    def convert(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
        blame.note(ctx, param, name, variable_name(each))
        if flag.off:
            value = not value
        elif value == "":
            value = None
        flag.check(param.given_as(ctx) if isinstance(param, Setting) else name, value)
        return value.absolute() if isinstance(value, Path) else value

    return click.option(
        name,
        each.name,
        cls=Setting,
        envvar=variable_name(each),
        help=flag.help,
        metavar=flag.metavar,
        callback=convert,
        **attributes,
    )


__all__ = [
    "AGE",
    "CALLBACK_URL",
    "DURATION",
    "CallbackUrl",
    "Duration",
    "errors_dir",
    "json_flag",
    "run_settings",
]

json_flag = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
