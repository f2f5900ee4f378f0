"""The secret values themselves: what stands under a secret's name in a job's payload, and more.

A value that is known is masked wherever it appears, in whatever spelling: percent-encoded,
JSON-escaped or HTML-escaped. A worker does one job at a time, so the values of this process are
those of its job (`begin` and `end`) and those that it always keeps (`keep`).
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote, quote_plus, unquote_plus

from worker.evidence.secret_names import is_secret_name

MASK = "[redacted]"
# Shorter values would eat ordinary words; they are masked by the name beside them only.
MIN_LENGTH = 4
# From here on a value is masked inside words too.
UNMISTAKABLE_LENGTH = 6
MAX_LENGTH = 10_000
MAX_VALUES = 300
MIN_LINE_LENGTH = 8
# How deep a payload is looked into; JSON that is nested deeper cannot be read anyway.
MAX_DEPTH = 100

# JSON within JSON within JSON.
MAX_ESCAPES = 3

_EDGE_BEFORE = r"(?:(?<![A-Za-z0-9])|(?<=%[0-9A-Fa-f]{2}))"
_EDGE_AFTER = r"(?![A-Za-z0-9])"
# What a program writes for "nothing", and words that any page may hold.
_HARMLESS = frozenset({"true", "false", "null", "none", "undefined", MASK})
_PARAMETER = re.compile(r"[?&;#]([^=&;#?\s]{1,100})=([^&;#\s]++)")
_PASSWORD = re.compile(r"://[^/?#\s:@]{0,200}:([^/?#\s@]{1,1000})@")
_SAFE_IN_SCRIPTS = "!'()*~"


class KnownSecrets:
    """A set of values to mask, in all their spellings."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._values: frozenset[str] = frozenset()
        self._long: tuple[str, ...] = ()
        self._short: re.Pattern[str] | None = None
        self.add(values)

    @classmethod
    def of_payload(cls, payload: Any) -> KnownSecrets:
        """Know what stands under a secret's name in a payload: parsed, or JSON text."""
        if isinstance(payload, str | bytes):
            try:
                payload = json.loads(payload)
            except (ValueError, RecursionError):
                return cls()
        return cls(values_under_secret_names(payload))

    def add(self, values: Iterable[str]) -> None:
        """Know these values too; too short ones and plain words are left out."""
        wanted = {part for value in values for part in _parts(value)}
        if wanted <= self._values:
            return
        known = sorted(self._values | wanted, key=len, reverse=True)[:MAX_VALUES]
        spellings = {spelling for value in known for spelling in _spellings(value)}
        ordered = sorted(spellings, key=len, reverse=True)
        short = [re.escape(each) for each in ordered if len(each) < UNMISTAKABLE_LENGTH]
        self._values = frozenset(known)
        self._long = tuple(each for each in ordered if len(each) >= UNMISTAKABLE_LENGTH)
        self._short = (
            re.compile(f"{_EDGE_BEFORE}(?:{'|'.join(short)}){_EDGE_AFTER}") if short else None
        )

    def mask(self, text: str) -> str:
        """Replace every known value in a text."""
        for spelling in self._long:
            if spelling in text:
                text = text.replace(spelling, MASK)
        return self._short.sub(MASK, text) if self._short is not None else text

    def mask_json(self, value: Any) -> Any:
        """Replace every known value in the texts of a JSON value; plain names of fields stay."""
        if isinstance(value, dict):
            return {
                key if str(key).isidentifier() else self.mask(str(key)): self.mask_json(inner)
                for key, inner in value.items()
            }
        if isinstance(value, list | tuple):
            return [self.mask_json(inner) for inner in value]
        return self.mask(value) if isinstance(value, str) else value

    def __bool__(self) -> bool:
        return bool(self._values)


def values_under_secret_names(value: Any, depth: int = 0) -> Iterator[str]:
    """Find every text and number that stands, at any depth, under a secret's name."""
    if depth > MAX_DEPTH:
        return
    if isinstance(value, Mapping):
        for name, inner in without_references(value).items():
            find = _leaves if is_secret_name(str(name)) else values_under_secret_names
            yield from find(inner, depth + 1)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from values_under_secret_names(inner, depth + 1)
    elif isinstance(value, str):
        yield from _values_in_url(value)


def _values_in_url(text: str) -> Iterator[str]:
    """Find the password and the secret parameters of a URL in a payload."""
    text = text[:MAX_LENGTH]
    for name, value in _PARAMETER.findall(text):
        if len(value) >= UNMISTAKABLE_LENGTH and is_secret_name(unquote_plus(name)):
            yield from (value, unquote_plus(value))
    for password in _PASSWORD.findall(text):
        yield from (password, unquote_plus(password))


def without_references(value: Mapping[Any, Any]) -> dict[Any, Any]:
    """Leave out of a step's `fill` what only names a secret: {"secret": "SHOP_PASSWORD"}."""
    fill = value.get("fill")
    if not isinstance(fill, Mapping):
        return dict(value)
    kept = {name: inner for name, inner in fill.items() if not is_reference(inner)}
    return {**value, "fill": kept}


def is_reference(value: Any) -> bool:
    """Tell whether a value to fill in only names a secret: {"secret": "SHOP_PASSWORD"}."""
    return isinstance(value, Mapping) and set(value) == {"secret"}


def begin(payload: Any) -> None:
    """Know the secrets of the job that begins, and no longer those of the one before."""
    _job.begin(payload)


def add_named(value: str) -> None:
    """Know a secret that was read by its name: not even a result may hold it."""
    _job.named.add([value])
    _job.secrets.add([value])


def add(values: Iterable[str]) -> None:
    """Know further secrets of the job that runs."""
    _job.secrets.add(values)


def end() -> None:
    """Forget the job's secrets: it is settled."""
    _job.begin(None)


def keep(values: Iterable[str]) -> None:
    """Know these secrets for as long as the process lives."""
    _kept.add(values)


def mask(text: str) -> str:
    """Replace what this process knows to be secret."""
    return _job.secrets.mask(_kept.mask(text))


def mask_json(value: Any) -> Any:
    """Replace what this process knows to be secret in the texts of a JSON value."""
    return _job.secrets.mask_json(_kept.mask_json(value))


def mask_result(text: str) -> str:
    """Replace, in a result that is JSON, the secrets that its task read by their names."""
    if not _job.named or _job.named.mask(text) == text:
        return text
    return json.dumps(_job.named.mask_json(json.loads(text)))


class _OfJob:
    """The secrets of the job that runs: looked for when something is written, which is seldom."""

    def __init__(self) -> None:
        self.begin(None)

    def begin(self, payload: Any) -> None:
        self.named = KnownSecrets()
        self._payload = payload
        # What is parsed already may be changed by the task.
        is_text = payload is None or isinstance(payload, str)
        self._secrets = None if is_text else KnownSecrets.of_payload(payload)

    @property
    def secrets(self) -> KnownSecrets:
        if self._secrets is None:
            self._secrets = KnownSecrets.of_payload(self._payload)
        return self._secrets


def _leaves(value: Any, depth: int) -> Iterator[str]:
    if depth > MAX_DEPTH:
        return
    if isinstance(value, Mapping):
        for inner in value.values():
            yield from _leaves(inner, depth + 1)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _leaves(inner, depth + 1)
    elif isinstance(value, str):
        yield value
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield repr(value)


def _parts(value: str) -> Iterator[str]:
    """A value, without space around it; of several lines, each line by itself as well."""
    value = value.strip()[:MAX_LENGTH]
    lines = value.splitlines()
    if len(lines) > 1:
        yield from (line.strip() for line in lines if len(line.strip()) >= MIN_LINE_LENGTH)
    if len(value) >= MIN_LENGTH and value.lower() not in _HARMLESS:
        yield value


def _spellings(value: str) -> Iterator[str]:
    yield value
    yield repr(value)[1:-1]
    for ensure_ascii in (True, False):
        escaped = value
        for _ in range(MAX_ESCAPES):
            escaped = json.dumps(escaped, ensure_ascii=ensure_ascii)[1:-1]
            yield escaped
    for safe in ("", "/", _SAFE_IN_SCRIPTS, f"{_SAFE_IN_SCRIPTS}/:@$&+,;="):
        encoded = quote(value, safe=safe, errors="replace")
        yield encoded
        yield re.sub(r"%[0-9A-F]{2}", lambda found: found[0].lower(), encoded)
        yield quote(encoded, safe="")
    yield quote_plus(value, safe="*", errors="replace")
    yield html.escape(value)
    yield html.escape(value, quote=False)


_job = _OfJob()
_kept = KnownSecrets()
