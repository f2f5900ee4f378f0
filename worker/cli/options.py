"""Flags and their variables: `--errors-dir` is `NIGHTSHIFT_ERRORS_DIR`, without being told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import click

from worker.settings import parse_duration

# The width of its column.
MAX_CALLBACK_URL = 2048

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


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


class CallbackUrl(click.ParamType[str]):
    """Where to send webhooks; what is wrong is not repeated, because it may hold credentials."""

    name = "url"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value and (problem := url_problem(str(value))):
            self.fail(problem, param, ctx)
        return str(value)


DURATION = Duration()
CALLBACK_URL = CallbackUrl()


def setting(flag: str, *more: str, **attributes: Any) -> Decorator:
    """Declare a flag that can also be set in the environment or in `.env`."""
    name = flag.partition("/")[0].lstrip("-").replace("-", "_").upper()
    attributes.setdefault("show_default", attributes.get("default") is not None)
    return click.option(flag, *more, envvar=f"NIGHTSHIFT_{name}", **attributes)


def url_problem(url: str) -> str | None:
    """Say what keeps a URL from being called back, if anything does."""
    if len(url) > MAX_CALLBACK_URL:
        return f"longer than {MAX_CALLBACK_URL} characters"
    try:
        parts = urlsplit(url)
        is_complete = parts.scheme in ("http", "https") and bool(parts.hostname)
        is_complete = is_complete and (parts.port is None or parts.port > 0)
    except ValueError:
        is_complete = False
    if not is_complete or any(ord(character) <= ord(" ") for character in url):
        return "not a URL that can be called back; write http://… or https://…"
    return None


json_flag = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
