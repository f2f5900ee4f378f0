"""What the address of a page asks for; a filter that makes no sense is refused, never left out.

Otherwise a program that misspells a filter takes everything for what it wanted.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from flask import request

from worker.errors import UsageError

_ID = re.compile(r"[0-9]{1,18}")


def number(name: str) -> int | None:
    """Read an id from the address; None where nothing is asked for. Raises UsageError."""
    given = request.args.get(name, "")
    if given and not _ID.fullmatch(given):
        raise UsageError(f"{name}={shown(given)} is no number of up to 18 digits")
    return int(given) if given else None


def choice(name: str, known: Collection[str], usual: str) -> str:
    """Read one of some words from the address, or else the usual one. Raises UsageError."""
    given = request.args.get(name, "") or usual
    if given != usual and given not in known:
        raise UsageError(f"{name}={shown(given)} is not known; give one of: {', '.join(known)}")
    return given


def shown(given: str) -> str:
    """Write what somebody gave in a sentence."""
    return repr(given if len(given) <= 40 else f"{given[:39]}…")
