"""The secret values themselves: what stands under a secret's name in a job's payload, and more.

A value that is known is masked wherever it appears, in the forms of `spellings.py`; however many
there are, none pushes another one out. A worker does one job at a time, so the values of this
process are those of its job (`begin` and `end`) and those that it always keeps (`keep`).
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import unquote_plus

from worker.evidence.secret_names import is_secret_name, may_hold_secrets
from worker.evidence.spellings import spellings
from worker.evidence.value_search import UNMISTAKABLE_LENGTH, ValueSearch
from worker.secret_references import without_references

MASK = "[redacted]"
# Shorter values would eat ordinary words; they are masked by the name beside them only.
MIN_LENGTH = 4
# A longer value is masked piece by piece. Three bytes are four letters in base64, so that a piece
# is spelled there as it is within the whole.
PIECE_LENGTH = 9_999
MAX_URL = 200_000
MIN_LINE_LENGTH = 8
# How deep a payload is looked into; JSON that is nested deeper cannot be read anyway.
MAX_DEPTH = 100

_JSON_FIELD = re.compile(r'"([^"\\]{1,100}+)"\s*+:\s*+"((?>(?:[^"\\]|\\.){1,10000}))"')
# What a program writes for "nothing", and words that any page may hold.
_HARMLESS = frozenset({"true", "false", "null", "none", "undefined", MASK})
_PARAMETER = re.compile(r"[?&;#]([^=&;#?\s]{1,100})=([^&;#\s]++)")
_PASSWORD = re.compile(r"://[^/?#\s:@]{0,200}:([^/?#\s@]{1,1000})@")


class KnownSecrets:
    """A set of values to mask, in all their spellings; too short ones and plain words are left out.

    It never changes, so that the many jobs without a secret share one.
    """

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._values = frozenset(part for value in values for part in _parts(value))
        self._numbers = frozenset(n for value in self._values for n in _as_numbers(value))
        self._search = ValueSearch({form for value in self._values for form in spellings(value)})

    @classmethod
    def of_payload(cls, payload: Any) -> KnownSecrets:
        """Know what stands under a secret's name in a payload: parsed, or JSON text."""
        if isinstance(payload, str) and not may_hold_secrets(payload):
            return _NOTHING
        if isinstance(payload, str | bytes):
            try:
                payload = json.loads(payload)
            except (ValueError, RecursionError):
                return _NOTHING
        return cls(values_under_secret_names(payload))

    def with_more(self, values: Iterable[str]) -> KnownSecrets:
        """Know these values too."""
        wanted = {part for value in values for part in _parts(value)}
        return self if wanted <= self._values else KnownSecrets(self._values | wanted)

    def mask(self, text: str) -> str:
        """Replace every known value in a text."""
        return self._search.replace(text, MASK) if self._values else text

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

    def mask_all_json(self, value: Any) -> Any:
        """Replace every known value in a JSON value: in texts, in all keys, and as a number."""
        if isinstance(value, dict):
            return {self.mask(key): self.mask_all_json(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [self.mask_all_json(inner) for inner in value]
        if isinstance(value, str):
            return self.mask(value)
        if isinstance(value, int | float) and not isinstance(value, bool):
            text = repr(value)
            return MASK if self.mask(text) != text or value in self._numbers else value
        return value

    def __bool__(self) -> bool:
        return bool(self._values)


def values_under_secret_names(value: Any, depth: int = 0) -> Iterator[str]:
    """Find every text and number that stands, at any depth, under a secret's name."""
    if depth > MAX_DEPTH:
        return
    if isinstance(value, Mapping):
        if is_secret_pair(value):
            yield from _leaves(value["value"], depth + 1)
            yield from _values_in_cookies(str(value["name"]), value["value"])
        for name, inner in without_references(value).items():
            find = _leaves if is_secret_name(str(name)) else values_under_secret_names
            yield from find(inner, depth + 1)
            yield from _values_in_cookies(str(name), inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from values_under_secret_names(inner, depth + 1)
    elif isinstance(value, str):
        yield from _values_in_url(value)


def _values_in_url(text: str) -> Iterator[str]:
    """Find the password and the secret parameters of a URL in a payload, and JSON in a text."""
    text = text[:MAX_URL]
    for name, value in _PARAMETER.findall(text):
        if len(value) >= UNMISTAKABLE_LENGTH and is_secret_name(unquote_plus(name)):
            yield from (value, unquote_plus(value))
    for password in _PASSWORD.findall(text):
        yield from (password, unquote_plus(password))
    for each in {text, unquote_plus(text)} if '"' in text or "%22" in text else ():
        for name, value in _JSON_FIELD.findall(each):
            if is_secret_name(name):
                yield value
                with suppress(ValueError):
                    yield json.loads(f'"{value}"')


def _values_in_cookies(name: str, value: Any) -> Iterator[str]:
    """Find each cookie's own value in a header: `theme=dark; sid=…`."""
    if isinstance(value, str) and "cookie" in name.lower():
        for cookie in value.split(";"):
            inner = cookie.partition("=")[2].strip()
            # A shorter one may be any word.
            if len(inner) >= MIN_LINE_LENGTH:
                yield inner


def is_secret_pair(value: Mapping[Any, Any]) -> bool:
    """Tell whether this is a secret as a pair: {"name": "Cookie", "value": "…"}."""
    return "value" in value and is_secret_name(str(value.get("name", "")))


def begin(payload: Any) -> None:
    """Know the secrets of the job that begins, and no longer those of the one before."""
    _job.begin(payload)


def add_named(value: str) -> None:
    """Know a secret that was read by its name: not even a result may hold it."""
    _job.named = _job.named.with_more([value])
    _job.add([value])


def can_mask(value: str) -> bool:
    """Tell whether a value is long and rare enough to be masked wherever it appears."""
    return bool(KnownSecrets([value]))


def add(values: Iterable[str]) -> None:
    """Know further secrets of the job that runs."""
    _job.add(values)


@contextmanager
def also(values: Iterable[str]) -> Iterator[None]:
    """Mask these values too within the block, and only there."""
    before = _job.more
    _job.more = KnownSecrets(values)
    try:
        yield
    finally:
        _job.more = before


def end() -> None:
    """Forget the job's secrets: it is settled."""
    _job.begin(None)


def keep(values: Iterable[str]) -> None:
    """Know these secrets for as long as the process lives."""
    global _kept  # noqa: PLW0603 - a process has one set of them.
    _kept = _kept.with_more(values)


def of_browser(values: Iterable[str]) -> None:
    """Know the tokens of a connection to a browser, and still those of the ones before it."""
    global _of_browser  # noqa: PLW0603 - a process has one set of them.
    _connections.append(tuple(values))
    _of_browser = _NOTHING.with_more(value for each in _connections for value in each)


def mask(text: str) -> str:
    """Replace what this process knows to be secret."""
    return _job.more.mask(_job.secrets.mask(_of_browser.mask(_kept.mask(text))))


def mask_json(value: Any) -> Any:
    """Replace what this process knows to be secret in the texts of a JSON value."""
    return _job.secrets.mask_json(_of_browser.mask_json(_kept.mask_json(value)))


def mask_result(text: str) -> str:
    """Replace, in a result that is JSON, the secrets that its task read by their names."""
    if not _job.named:
        return text
    result = json.loads(text)
    masked = _job.named.mask_all_json(result)
    return text if masked == result else json.dumps(masked)


class _OfJob:
    """The secrets of the job that runs: looked for when something is written, which is seldom."""

    def __init__(self) -> None:
        self.begin(None)

    def begin(self, payload: Any) -> None:
        self.named = self.more = _NOTHING
        self._payload = payload
        # What is parsed already may be changed by the task.
        is_text = payload is None or isinstance(payload, str)
        self._secrets = None if is_text else KnownSecrets.of_payload(payload)

    @property
    def secrets(self) -> KnownSecrets:
        if self._secrets is None:
            self._secrets = KnownSecrets.of_payload(self._payload)
        return self._secrets

    def add(self, values: Iterable[str]) -> None:
        """Know further ones."""
        self._secrets = self.secrets.with_more(values)


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


def _as_numbers(value: str) -> Iterator[float]:
    """What a value is as a number: 0815 may come back as 815, and 12.50 as 12.5."""
    for number in (int, float):
        with suppress(ValueError, OverflowError):
            yield number(value)


def _parts(value: str) -> Iterator[str]:
    """A value, without space around it; of several lines, each line by itself as well."""
    value = value.strip()
    lines = value.splitlines()
    if len(lines) > 1:
        yield from (line.strip() for line in lines if len(line.strip()) >= MIN_LINE_LENGTH)
        # As a form sends it.
        yield from _pieces("\r\n".join(lines))
    if value.lower() not in _HARMLESS:
        yield from _pieces(value)


def _pieces(value: str) -> Iterator[str]:
    for start in range(0, len(value), PIECE_LENGTH):
        if len(piece := value[start : start + PIECE_LENGTH]) >= MIN_LENGTH:
            yield piece


_NOTHING = KnownSecrets()
_job = _OfJob()
_kept = _of_browser = _NOTHING
_connections: deque[tuple[str, ...]] = deque(maxlen=20)
