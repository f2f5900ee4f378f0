"""Endpoints of browsers elsewhere: what speaks there, how a text may name one, whose each slot is.

An address is a secret: only its scheme, host and port are for texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from worker.browser.providers.endpoint import label as label_of
from worker.evidence.secret_names import is_secret_name

SLOT, SESSION = "{slot}", "{session}"
# A shorter part of an address may be any word, and so may one without digits.
MIN_RANDOM, CERTAINLY_RANDOM = 12, 20

_PREFIX = re.compile(r"(playwright|cdp)\+(?=\w+://)")
# How Chromium and those who pass its protocol on name their paths; and a Playwright server.
_CDP_PATH = re.compile(r"(?:^|/)(?:devtools|cdp)(?:/|$)", re.IGNORECASE)
_PLAYWRIGHT_PATH = re.compile(r"(?:^|/)playwright(?:/|$)", re.IGNORECASE)


class Speech(StrEnum):
    """What is spoken at an endpoint."""

    PLAYWRIGHT = "playwright"
    CDP = "cdp"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One place where a browser can be had, or a function of the user's that knows one."""

    address: str = field(repr=False)
    # Whose slot's it is, where the setting has `{slot}` in it.
    slot: int | None = None

    @property
    def is_function(self) -> bool:
        return "://" not in self.address

    @property
    def label(self) -> str:
        """Name it without its secrets."""
        if self.is_function:
            return f"{self.address}()"
        return label_of(_PREFIX.sub("", self.address))

    def __str__(self) -> str:
        return self.label


def speech_of(address: str) -> tuple[Speech, str]:
    """Say what is spoken at an address, and return it without the prefix that may say so.

    Without a prefix, http and https are CDP. A WebSocket is CDP if its path says so or if it has a
    login or parameters, as hosted services want; otherwise it is a Playwright server's.
    """
    if prefix := _PREFIX.match(address):
        return Speech(prefix[1]), address[prefix.end() :]
    parts = urlsplit(address)
    if parts.scheme in ("http", "https"):
        return Speech.CDP, address
    if _PLAYWRIGHT_PATH.search(parts.path):
        return Speech.PLAYWRIGHT, address
    is_cdp = _CDP_PATH.search(parts.path) or parts.query or "@" in parts.netloc
    return Speech.CDP if is_cdp else Speech.PLAYWRIGHT, address


def expand(values: Iterable[str], slots: Iterable[int]) -> tuple[Endpoint, ...]:
    """List all endpoints: one for each value, or for each slot where a value has `{slot}` in it."""
    numbers = tuple(slots)
    found = [
        endpoint
        for value in values
        for endpoint in (
            [Endpoint(value.replace(SLOT, str(number)), number) for number in numbers]
            if SLOT in value
            else [Endpoint(value)]
        )
    ]
    return tuple(dict.fromkeys(found))


def order_for(endpoints: Sequence[Endpoint], slot: int) -> list[int]:
    """Number the endpoints in the order in which a slot tries them, its own first.

    Each slot begins at another one, so that those of a lost endpoint are shared out evenly.
    """
    own = [n for n, endpoint in enumerate(endpoints) if endpoint.slot in (None, slot)]
    others = [n for n in range(len(endpoints)) if n not in own]
    return [*_from(own, slot), *_from(others, slot)]


def _from(numbers: list[int], slot: int) -> list[int]:
    if not numbers:
        return []
    start = slot % len(numbers)
    return [*numbers[start:], *numbers[:start]]


def secrets_in(address: str) -> Iterator[str]:
    """List what of an address must be in no text: its login, tokens, and whatever looks random."""
    parts = _split(_PREFIX.sub("", address))
    if parts is None or "://" not in address:
        return
    for part in (parts.username, parts.password):
        if part:
            yield from {part, unquote(part)}
    if parts.password:
        yield f"{parts.username or ''}:{parts.password}"
    for name, value in parse_qsl(parts.query):
        if is_secret_name(name) or _is_random(value):
            yield value
    for segment in (*parts.path.split("/"), parts.fragment):
        if _is_random(segment):
            yield from {segment, unquote(segment)}


def is_secret(value: str) -> bool:
    """Tell whether a value should not be on a command line, where other users can read it."""
    return any(True for _ in secrets_in(value))


def _is_random(text: str) -> bool:
    if SESSION in text or "{" in text:
        return False
    has_both = re.search(r"\d", text) and re.search(r"[A-Za-z]", text) and "-" not in text
    return len(text) >= CERTAINLY_RANDOM or (len(text) >= MIN_RANDOM and bool(has_both))


def _split(address: str) -> SplitResult | None:
    try:
        return urlsplit(address)
    except ValueError:
        return None
