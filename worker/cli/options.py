"""Flags and their variables: `--errors-dir` is `NIGHTSHIFT_ERRORS_DIR`, without being told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from worker.settings import parse_duration

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


DURATION = Duration()


def setting(flag: str, *more: str, **attributes: Any) -> Decorator:
    """Declare a flag that can also be set in the environment or in `.env`."""
    name = flag.partition("/")[0].lstrip("-").replace("-", "_").upper()
    attributes.setdefault("show_default", attributes.get("default") is not None)
    return click.option(flag, *more, envvar=f"NIGHTSHIFT_{name}", **attributes)


json_flag = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
