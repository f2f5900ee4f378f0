"""A file in Playwright's `storage_state` form: read and checked, or written for its owner alone."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from worker.cli import output
from worker.cli.import_file import bytes_of
from worker.errors import UsageError
from worker.system.durable_file import write_durably

_SHAPE = 'it needs {"cookies": [...], "origins": [...]}, as storage_state() of Playwright writes it'
# What Playwright takes of a cookie; it refuses others.
_COOKIE = (
    *("name", "value", "url", "domain", "path", "expires", "httpOnly", "secure", "sameSite"),
    "partitionKey",
)


def read(file: str) -> dict[str, Any]:
    """Read a state, or UsageError: its message repeats nothing of the file."""
    try:
        state = json.loads(bytes_of(file))
    except ValueError:
        raise UsageError(f"{file} is not JSON; {_SHAPE}; nothing was changed") from None
    cookies, origins = (
        (state.get("cookies"), state.get("origins", []))
        if isinstance(state, dict)
        else (None, None)
    )
    if not isinstance(cookies, list) or not isinstance(origins, list):
        raise UsageError(f"{file} is no storage state; {_SHAPE}; nothing was changed")
    for number, cookie in enumerate(cookies, 1):
        if not _is_cookie(cookie):
            raise UsageError(
                f"{file}: cookie {number} lacks a name, value or domain; nothing was changed"
            )
    for number, origin in enumerate(origins, 1):
        if not _is_origin(origin):
            raise UsageError(
                f"{file}: origin {number} is no storage of a site; nothing was changed"
            )
    kept = [{name: cookie[name] for name in _COOKIE if name in cookie} for cookie in cookies]
    return {"cookies": kept, "origins": origins}


def make_lasting(state: dict[str, Any], seconds: float) -> None:
    """Give the cookies of a session, which a browser forgets when it is closed, an end."""
    for cookie in session_cookies(state):
        cookie["expires"] = int(time.time() + seconds)


def session_cookies(state: dict[str, Any]) -> list[dict[str, Any]]:
    """List the cookies that a browser forgets when it is closed."""
    return [cookie for cookie in state["cookies"] if cookie.get("expires", -1) in (-1, None)]


def require_place(file: str, *, reveal: bool) -> None:
    """Raise UsageError where a state must not be written: on a terminal, or over another file."""
    if file == "-" and output.is_terminal() and not reveal:
        raise UsageError(
            "cookies are log-ins, and this is a terminal; write them to a file, or add --reveal"
        )
    if file != "-" and Path(file).exists():
        raise UsageError(f"{file} exists already; name another file")


def origin_of(url: str) -> str:
    """Cut a URL down to its origin; raises UsageError."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
        raise UsageError("--origin: write a site such as https://example.com")
    return f"{parts.scheme}://{parts.netloc}"


def write(file: str, state: dict[str, Any]) -> None:
    """Write a state to a file that only its owner may read, or to stdout for `-`."""
    text = json.dumps(state, indent=2) + "\n"
    if file == "-":
        output.write_exactly(text)
        return
    try:
        write_durably(Path(file), text.encode())
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}") from error


def _is_cookie(cookie: Any) -> bool:
    if not isinstance(cookie, dict):
        return False
    has_place = isinstance(cookie.get("domain"), str) or isinstance(cookie.get("url"), str)
    return has_place and all(isinstance(cookie.get(key), str) for key in ("name", "value"))


def _is_origin(origin: Any) -> bool:
    if not isinstance(origin, dict) or not str(origin.get("origin")).startswith(
        ("http://", "https://")
    ):
        return False
    items = origin.get("localStorage")
    return isinstance(items, list) and all(
        isinstance(item, dict)
        and isinstance(item.get("name"), str)
        and isinstance(item.get("value"), str)
        for item in items
    )
