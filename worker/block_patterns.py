"""What pages may be kept from loading: kinds of files, and sites by their host.

`image` is a kind; `ads.example` is a host, and `*.ads.example` is it and everything under it. Only
such patterns are taken, so that none is slow to match, whoever wrote it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from typing import Any

# Playwright's resource types, but for the page itself and for WebSockets, which no route sees.
KINDS = (
    "stylesheet", "image", "media", "font", "script", "texttrack", "xhr", "fetch", "eventsource",
    "manifest", "ping", "other",
)  # fmt: skip
MOST = 500
# No name of a host is longer.
MAX_LENGTH = 253

_HOST = re.compile(r"(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z0-9-]{2,63}|localhost")
_ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.]{2,45}\]")


def problem_in(patterns: Any) -> str | None:
    """Say what is wrong with a list of patterns, in one line."""
    if isinstance(patterns, str) or not isinstance(patterns, Sequence):
        return f'expected a list such as ["image", "*.ads.example"], got {patterns!r:.60}'
    if len(patterns) > MOST:
        return f"{len(patterns)} patterns; give {MOST} or fewer"
    return next((problem for each in patterns if (problem := _problem(each))), None)


def tidied(patterns: Iterable[str]) -> tuple[str, ...]:
    """Write good patterns alike, each once, in a fixed order."""
    return tuple(sorted({_tidy(each) for each in patterns}))


def kinds_of(patterns: Iterable[str]) -> frozenset[str]:
    """The kinds among good patterns."""
    return frozenset(patterns) & frozenset(KINDS)


def regex_of_hosts(patterns: Iterable[str]) -> re.Pattern[str] | None:
    """Make one pattern of URLs of the hosts among good patterns; None without any."""
    hosts = [each for each in patterns if each not in KINDS]
    if not hosts:
        return None
    anywhere = r"(?:[^/?#@]*\.)?"
    names = "|".join(
        anywhere + re.escape(host[2:]) if host.startswith("*.") else re.escape(host)
        for host in hosts
    )
    # In what Python's and JavaScript's patterns have in common: the driver matches, too.
    return re.compile(
        rf"^[a-z][a-z0-9+.-]*://(?:[^/?#@]*@)?(?:{names})\.?(?::\d+)?(?:[/?#]|$)", re.I
    )


def _problem(pattern: Any) -> str | None:
    if not isinstance(pattern, str) or not 0 < len(pattern.strip()) <= MAX_LENGTH:
        return f"{pattern!r:.60} is neither a kind of file nor a host"
    text = _tidy(pattern)
    if text in KINDS:
        return None
    if text in ("document", "websocket"):
        return f"{text} cannot be blocked; known are {', '.join(KINDS)}, and hosts"
    host = text.removeprefix("*.")
    if _ADDRESS.fullmatch(host) and host == text:
        return None
    is_whole_domain = host != text and "." not in host
    if _HOST.fullmatch(host) and not is_whole_domain:
        return None
    near = difflib.get_close_matches(text, KINDS, n=1)
    meant = f"did you mean {near[0]}?" if near else f"known are {', '.join(KINDS)}"
    return f"{pattern!r:.80} is neither a host such as *.ads.example nor a kind of file; {meant}"


def _tidy(pattern: str) -> str:
    text = pattern.strip().lower()
    if text.isascii():
        return text
    star = "*." if text.startswith("*.") else ""
    try:
        return star + text.removeprefix("*.").encode("idna").decode("ascii")
    except UnicodeError:
        return text
