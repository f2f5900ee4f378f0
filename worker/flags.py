"""How a setting is declared: its default, its check, its help; and how durations are written.

`settings.py` declares the settings of a run with this, `cli/options.py` makes flags of them, and
`project_file.py` keys of `nightshift.toml`. Nothing is read here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from worker.errors import UsageError

_UNIT_SECONDS = {"": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


@dataclass(frozen=True, slots=True)
class Flag:
    """What the command line needs to know about a setting, and which values are accepted."""

    help: str
    default: Any = None
    least: float | None = None
    most: float | None = None
    above: float | None = None
    unit: str = ""
    problem: Callable[[str], str | None] | None = None
    choices: tuple[str, ...] = ()
    metavar: str | None = None
    # Reads a value that is a word where a number is meant; raises ValueError.
    parse: Callable[[str], Any] | None = None
    # The flag that turns the setting off, where only that is wanted: `--headed` for `headless`.
    off: str | None = None

    def check(self, name: str, value: Any) -> None:
        """Raise UsageError, naming the flag and what to give instead, if the value is wrong."""
        if value is None:
            if isinstance(self.default, str) and not self.unit:
                raise UsageError(f"{name} is empty; leave it out for {self.default}")
            return
        if self.parse is not None and isinstance(value, str):
            value = self.parse(value)
        if self.least is not None and value < self.least:
            wanted = f"give {self.least:g}{self.unit} or more"
            raise UsageError(f"{name} {_number(value)} is too small; {wanted}")
        if self.most is not None and value > self.most:
            wanted = f"give {self.most:g}{self.unit} or less"
            raise UsageError(f"{name} {_number(value)} is too large; {wanted}")
        if self.above is not None and value <= self.above:
            raise UsageError(f"{name} {value:g} is too small; give more than {self.above:g}")
        if self.problem is not None and (problem := self.problem(value)) is not None:
            # The value is not repeated: a URL may hold a password.
            raise UsageError(f"{name}: {problem}")


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:g}"


def parse_duration(text: str) -> float:
    """Read `600`, `90s`, `10m`, `6h` or `30d` as seconds; raise ValueError for anything else."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(ms|[smhd]?)\s*", text.lower())
    if match is None:
        raise ValueError(f"{text!r} is not a duration; write 600, 90s, 10m, 6h or 30d")
    seconds = float(match[1]) * _UNIT_SECONDS[match[2]]
    if not math.isfinite(seconds):
        raise ValueError(f"{text[:20]!r}… is longer than anything lasts; write 30d")
    return seconds


def setting(default: Any, help: str, **more: Any) -> Any:
    """Declare a setting; `default` may be a function that finds it when it is wanted."""
    if callable(default):
        return field(default_factory=default, metadata={"flag": Flag(help, default, **more)})
    return field(default=default, metadata={"flag": Flag(help, default, **more)})


def duration(default: str | None, help: str, **more: Any) -> Any:
    """Declare a setting that is a time, its default written as a person would: `10m`."""
    seconds = None if default is None else parse_duration(default)
    return field(default=seconds, metadata={"flag": Flag(help, default, unit=" s", **more)})
