"""What is wrong with a URL, if anything: of a job, a webhook, a browser, somebody to be told."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

MAX_JOB_URL = 8192
# The width of its column.
MAX_CALLBACK_URL = 2048

_JOB_URL = re.compile(r"https?://[^\s\x00-\x1f/?#]+[^\s\x00-\x1f]*$", re.IGNORECASE)
# What no host's name has, and a shell obeys: a site is named in commands that people copy.
_NO_HOST = re.compile(r"[;$()&<>`\"'|^{}\s\x00-\x1f\x7f]")
_AUTHORITY = re.compile(r"https?://([^/?#]*)", re.IGNORECASE)
_ENDPOINT = re.compile(
    r"(?:(?:playwright|cdp)\+)?(?:ws|wss|http|https)://[^\s\x00-\x1f/?#]+[^\s\x00-\x1f]*"
    r"|env:[A-Za-z_]\w*|file:.+|[^\s:]+:[A-Za-z_]\w*"
)
_NOTIFY_URL = re.compile(r"env:[A-Za-z_]\w*|file:.+|[A-Za-z][\w+.-]*://[^\s\x00-\x1f]+")


def job_url_problem(url: str) -> str | None:
    """Say what keeps a URL from being opened; quick, because a file may hold a million."""
    if len(url) > MAX_JOB_URL:
        return f"longer than {MAX_JOB_URL} characters"
    if not _JOB_URL.match(url):
        # A login before the host may be cut so that nobody could tell what it is.
        _, at, host = url.rpartition("@")
        return f"{('…@' + host if at else url)[:80]!r} is not a URL; write http://… or https://…"
    authority = _AUTHORITY.match(url)
    host = authority[1].rpartition("@")[2] if authority else ""
    return None if host_or_none(host) else f"{host[:80]!r} cannot be the name of a host"


def host_or_none(name: str | None) -> str | None:
    """Return a host's name, or None if it has a character that no such name has.

    The database takes what stands where a host should: of a plain INSERT that may be anything.
    """
    return name if name and not _NO_HOST.search(name) else None


def callback_url_problem(url: str) -> str | None:
    """Say what keeps a URL from being called, without repeating it: it may hold a password."""
    if len(url) > MAX_CALLBACK_URL:
        return f"longer than {MAX_CALLBACK_URL} characters"
    try:
        parts = urlsplit(url)
        is_complete = parts.scheme in ("http", "https") and bool(parts.hostname)
        is_complete = is_complete and (parts.port is None or parts.port > 0)
    except ValueError:
        is_complete = False
    if not is_complete or any(ord(character) <= ord(" ") for character in url):
        return "not a URL that can be called; write http://… or https://…"
    return None


def notify_url_problem(values: Iterable[str]) -> str | None:
    """Say what is wrong with the values of --notify, without repeating any: they are secrets."""
    if all(_NOTIFY_URL.fullmatch(value) for value in values):
        return None
    return "not a URL that Apprise could know; write mailto://…, slack://…, env:NAME or file:PATH"


def endpoint_problem(values: Iterable[str]) -> str | None:
    """Say what is wrong with the values of --browser-endpoint, without repeating any."""
    if all(_ENDPOINT.fullmatch(value) for value in values):
        return None
    return (
        "not an endpoint of a browser; write ws://…, wss://…, http://…, https://…, env:NAME, "
        "file:PATH, or your own function as FILE_OR_MODULE:FUNCTION"
    )
