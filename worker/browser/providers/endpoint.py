"""An endpoint for CDP, in whichever way a vendor or a person writes it.

Whoever knows all of it may steer the browser: only scheme, host and port are for texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

# A shorter part of a path or query is masked within the whole only: it may be any word.
MIN_SECRET = 6
_PLAIN = frozenset({"devtools", "browser", "version", "session", "sessions", "chrome", "chromium"})

_HOST_AND_PORT = re.compile(r"(\[[0-9a-fA-F:]+\]|[\w.-]+):\d{1,5}(/\S*)?", re.ASCII)


def normalise(endpoint: str | int) -> str | None:
    """Make digits and `host:port` an http address, leave URLs alone; None if it is neither."""
    text = str(endpoint).strip()
    if text.isascii() and text.isdigit() and 0 < int(text[:6]) < 65536:
        return f"http://127.0.0.1:{int(text)}"
    if re.fullmatch(r"(ws|wss|http|https)://[^\s/]\S*", text):
        return text
    return f"http://{text}" if _HOST_AND_PORT.fullmatch(text) else None


def label(endpoint: str) -> str:
    """Name an endpoint by its scheme, host and port only; `/…` stands for all that may follow."""
    parts = _split(endpoint)
    if parts is None or not parts.hostname:
        return "(unreadable)"
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    rest = "/…" if parts.path.strip("/") or parts.query or parts.fragment else ""
    return f"{parts.scheme}://{host}" + (f":{parts.port}" if parts.port else "") + rest


def secrets_in(endpoint: str) -> Iterator[str]:
    """List what must be in no text: login, path and query, as wholes and by their parts."""
    if (parts := _split(endpoint)) is None:
        return
    yield from (part for part in (parts.username, parts.password) if part)
    path, query = parts.path.strip("/"), parts.query
    yield from (part for part in (path, query, parts.fragment) if part)
    values = [*path.split("/"), *(value for _, value in parse_qsl(query))]
    for value in values:
        if len(value) >= MIN_SECRET and value.lower() not in _PLAIN:
            yield from {value, unquote(value)}


def _split(endpoint: str) -> SplitResult | None:
    try:
        parts = urlsplit(normalise(endpoint) or "")
        _ = parts.port
    except ValueError:
        return None
    return parts
