"""An endpoint for CDP, in whichever way a vendor or a person writes it.

Whoever knows all of it may steer the browser: only scheme, host and port are for texts.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from ipaddress import ip_address
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


def placed(endpoint: str | int, api_url: str, other_hosts: tuple[str, ...] = ()) -> str:
    """Say where the endpoint in an API's answer is, seen from here; raises ValueError if nowhere.

    A port alone, or on loopback, is on the host of the API. Any other host must be among
    `other_hosts` (`connect.example`, `*.example`), or the API's own: a profile's log-ins are not
    shown to a host that an answer makes up.
    """
    found = normalise(endpoint)
    parts = None if found is None else _split(found)
    if found is None or parts is None or not parts.hostname:
        raise ValueError("is no address")
    if parts.port == 0:
        raise ValueError("has the port 0")
    if not _is_loopback(parts.hostname):
        if parts.hostname == urlsplit(api_url).hostname or _is_among(parts.hostname, other_hosts):
            return found
        raise ValueError(f"is on another host ({label(found)})")
    host = _address_of(urlsplit(api_url).hostname or "")
    if _is_loopback(host):
        return found
    host = f"[{host}]" if ":" in host else host
    port = f":{parts.port}" if parts.port else ""
    return parts._replace(netloc=f"{host}{port}").geturl()


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


def _is_among(host: str, patterns: tuple[str, ...]) -> bool:
    return any(
        host.endswith(each[1:]) if each.startswith("*.") else host == each
        for each in (pattern.lower() for pattern in patterns)
    )


def _is_loopback(host: str) -> bool:
    try:
        address = ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    # Who listens everywhere says so, and is reached where the API is.
    return address.is_loopback or address.is_unspecified


def _address_of(host: str) -> str:
    """Look a name up: Chromium answers to an address or `localhost`, and to no other name."""
    if _is_loopback(host):
        return host
    try:
        return str(socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0][4][0])
    except (OSError, UnicodeError):
        return host


def _split(endpoint: str) -> SplitResult | None:
    try:
        parts = urlsplit(normalise(endpoint) or "")
        _ = parts.port
    except ValueError:
        return None
    return parts
