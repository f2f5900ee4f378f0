"""Fill `{name}` in what a preset sends: in a path, a header, or anywhere in a JSON body."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from re import Match
from typing import Any
from urllib.parse import quote

from worker.browser.providers.answer import PLACE


class NotSet(Exception):
    """Something to be filled in is not known; `name` says what."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def quoted(text: str) -> str:
    """Escape a text for one step of a URL's path, or one value of its query."""
    return quote(text, safe="")


def filled(template: str, values: Mapping[str, str], escape: Callable[[str], str] = str) -> str:
    """Fill in a text; `{name:md5}` is the digest that one vendor wants instead of a password.

    Raises NotSet.
    """

    def replace(found: Match[str]) -> str:
        name, transform = found.groups()
        if name not in values:
            raise NotSet(name)
        return escape(_md5_hex(values[name]) if transform == "md5" else values[name])

    return PLACE.sub(replace, template)


def filled_json(value: Any, values: Mapping[str, str]) -> Any:
    """Fill in all texts of a JSON value; raises NotSet."""
    if isinstance(value, Mapping):
        return {key: filled_json(inner, values) for key, inner in value.items()}
    if isinstance(value, list):
        return [filled_json(inner, values) for inner in value]
    return filled(value, values) if isinstance(value, str) else value


def names_in(value: Any) -> frozenset[str]:
    """Which places a text or a JSON value has."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        return frozenset(name for inner in value for name in names_in(inner))
    if not isinstance(value, str):
        return frozenset()
    return frozenset(found.group(1) for found in PLACE.finditer(value))


def _md5_hex(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
