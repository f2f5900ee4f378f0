"""Which selector an attempt failed of, by its message; only such as HTML alone can answer.

That is CSS, XPath and test ids. Texts, roles, labels and frames need a living page, and of a chain
of locators nobody knows from outside what its parts matched: for those there is no answer.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Literal

# The message quotes the page after its first lines, and a selector is short.
MAX_MESSAGE = 20_000
MAX_SELECTOR = 300

_WAITED = re.compile(r'waiting for (locator|get_by_test_id)\("')
_TOO_MANY = re.compile(r'strict mode violation: (locator|get_by_test_id)\("')
# What the built-in tasks say.
_MISSED = re.compile(r"\bnothing on \S{1,2100} matches (.{1,300})$", re.MULTILINE)
_EXPECTED = re.compile(r"\bexpected (.{1,300}) on \S{1,2100}, and it is not there$", re.MULTILINE)
# What may follow: which of the elements, what was waited for; anything else narrows it down.
_REST = re.compile(
    r"\)(?:\.first|\.last|\.nth\(-?\d{1,6}\))?(?: to be [a-z]{1,20}| resolved to .*)?"
)
_PREFIX = re.compile(r"(css|xpath|data-testid|id)=", re.IGNORECASE)
# Playwright's own, which a browser does not know: `text=Buy`, `a >> b`, `:has-text("x")`.
_FOREIGN = re.compile(
    r">>|:(?:has-text|text|text-is|text-matches|visible|light|nth-match|left-of|right-of|above|"
    r"below|near)\b",
    re.IGNORECASE,
)
_ENGINE = re.compile(r"[a-z_][\w:-]{0,40}=", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FailedSelector:
    """A selector in a browser's own terms."""

    kind: Literal["css", "xpath"]
    text: str


def find(message: str) -> FailedSelector | None:
    """Find the selector that was waited for in vain, or that matched too much."""
    message = message[:MAX_MESSAGE]
    found = _TOO_MANY.search(message) or _WAITED.search(message)
    if found is None:
        missed = _MISSED.search(message) or _EXPECTED.search(message)
        return _plain(missed[1].strip()) if missed else None
    line = message[found.end() - 1 :].partition("\n")[0]
    try:
        text, end = json.JSONDecoder().raw_decode(line)
    except ValueError:
        return None
    if not _REST.fullmatch(line[end:].rstrip()) or not 0 < len(text) <= MAX_SELECTOR:
        return None
    if found[1] == "get_by_test_id":
        return FailedSelector("css", _attribute("data-testid", text))
    return _plain(text.strip())


def _plain(written: str) -> FailedSelector | None:
    prefix = _PREFIX.match(written)
    kind, text = (prefix[1].lower(), written[prefix.end() :]) if prefix else ("", written)
    if kind in ("id", "data-testid"):
        return FailedSelector("css", _attribute(kind, text))
    if kind == "xpath" or (not kind and text.startswith(("//", ".."))):
        return FailedSelector("xpath", text)
    if _FOREIGN.search(text) or (not kind and _ENGINE.match(text)):
        return None
    if not kind and text[:1] in "\"'":
        # In quotes it is a text to look for.
        return None
    return FailedSelector("css", text)


def _attribute(name: str, value: str) -> str:
    quoted = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'[{name}="{quoted}"]'
