"""Files that are imported whole or not at all; each bad line is listed with its reason."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from worker.cli.output import tell
from worker.cli.wording import counted
from worker.errors import UsageError

MOST_BAD_LINES = 20

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that cannot be imported, and why."""

    number: int
    reason: str


def bytes_of(file: str) -> bytes:
    """Read a file, or stdin for `-`; raises UsageError."""
    try:
        return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from error


def all_or_none(found: Iterable[T | BadLine]) -> list[T]:
    """Return what was found if every line is good; otherwise list the bad ones, and UsageError."""
    good: list[T] = []
    bad: list[BadLine] = []
    for item in found:
        bad.append(item) if isinstance(item, BadLine) else good.append(item)
    for line in bad[:MOST_BAD_LINES]:
        tell(f"line {line.number}: {line.reason}", err=True)
    if bad:
        more = f" ({len(bad) - MOST_BAD_LINES} not shown)" if len(bad) > MOST_BAD_LINES else ""
        raise UsageError(
            f"{counted(len(bad), 'bad line')}{more}; nothing was imported: correct them first"
        )
    return good
