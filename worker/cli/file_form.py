"""How a file of jobs is written: the character between its columns, and its encoding."""

from __future__ import annotations

from worker.errors import UsageError


def delimiter(given: str | None, usual: str) -> str:
    """Return the character between columns; raises UsageError for what is none."""
    text = {"tab": "\t", "\\t": "\t"}.get(given or "", given or usual)
    if len(text) != 1:
        raise UsageError(f"--delimiter {given!r}: give one character, or tab")
    return text


def encoding(name: str) -> str:
    """Return an encoding that can be read by line; raises UsageError for any other."""
    try:
        newline = "\n".encode(name)
    except LookupError:
        raise UsageError(f"--encoding {name} is unknown; try utf-8, latin-1 or cp1252") from None
    if b"\0" in newline:
        # Lines are told apart by their bytes, before they are decoded.
        raise UsageError(f"--encoding {name} cannot be read by line; convert the file to utf-8")
    return name
