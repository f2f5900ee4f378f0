"""Jobs out of records: which column becomes which field, the dedupe key, and the task's check."""

from __future__ import annotations

import json
import string
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from json.encoder import encode_basestring as _quoted
from typing import Any

from worker import json_text
from worker.errors import PayloadError, UsageError
from worker.evidence.redaction import redact_text
from worker.intake.records import Record
from worker.profiles import manifest
from worker.profiles.manifest import Manifest

MAX_DEDUPE_KEY = 191
MAX_ORDER_KEY = 191
# What a line may name beside its payload.
ORDER_KEY = "order_key"
# MariaDB stores no JSON that is nested deeper; MySQL would take 100.
MAX_DEPTH = 31
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


# A job as it goes into the queue: its payload as JSON, its dedupe key, and, of those that name
# one, its profile, its account and its order key.
NewJob = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """A line that is no job, and why."""

    number: int
    text: str


class JobMaker:
    """Turns records into jobs, or says what is wrong with them."""

    def __init__(
        self,
        *,
        columns: dict[str, str] | None = None,
        dedupe: str | None = None,
        profile: str | None = None,
        account: str | None = None,
        order_key: str | None = None,
        check: Callable[[Mapping[str, Any]], object] = lambda payload: None,
    ) -> None:
        self._columns = columns or {}
        self._dedupe = Template(dedupe) if dedupe else None
        self._route = (
            _route(profile, "profile"),
            _route(account, "account"),
            _route(order_key, "order-key", "order key", MAX_ORDER_KEY),
        )
        self._has_order = order_key is not None
        self._has_keys_in_lines = False
        self.is_routed = any(self._route)
        self._check = check

    def make(self, records: Iterable[Record]) -> Iterator[NewJob | Problem]:
        """Make a job or a problem out of every record."""
        for number, values in records:
            if isinstance(values, str):
                yield Problem(number, redact_text(values))
                continue
            try:
                yield self._job(values)
            except (PayloadError, ValueError) as error:
                yield Problem(number, redact_text(str(error)))

    def peek(self, records: Iterator[Record]) -> Iterator[Record]:
        """Look at the first record: if it names its order key, the others may name theirs."""
        first = next(records, None)
        if first is None:
            return records
        if isinstance(first[1], dict) and ORDER_KEY in first[1]:
            self._has_keys_in_lines = self.is_routed = True
        return chain([first], records)

    def _job(self, values: dict[str, Any]) -> NewJob:
        order_key, values = self._order_key(values) if ORDER_KEY in values else (None, values)
        payload = values
        if self._columns:
            payload = {field: _column(values, name) for field, name in self._columns.items()}
        if "manifest" in payload:
            has_key = self._has_order or order_key is not None
            check_order(
                manifest.check(payload, *self._routed(values, payload)[:2]), has_key=has_key
            )
        self._check(payload)
        key = self._dedupe.fill({**values, **payload}) if self._dedupe else None
        if not self.is_routed:
            return as_text(payload), key
        profile, account, common_key = self._routed(values, payload)
        return as_text(payload), key, profile, account, common_key or order_key

    def _routed(
        self, values: dict[str, Any], payload: dict[str, Any]
    ) -> tuple[str | None, str | None, str | None]:
        """Fill in the profile, the account and the order key that all lines have a template for."""
        columns = {**values, **payload}
        profile, account, key = (part.fill_some(columns) if part else None for part in self._route)
        return profile, account, key

    def _order_key(self, values: dict[str, Any]) -> tuple[str | None, dict[str, Any]]:
        """Take a line's own order key out of its values; a template for all has its place."""
        if self._has_order:
            return None, values
        if not self._has_keys_in_lines:
            raise ValueError("has an order_key, but the first line has none; give it one, or null")
        rest = {name: value for name, value in values.items() if name != ORDER_KEY}
        found = values[ORDER_KEY]
        if found is None or found == "":
            return None, rest
        if not isinstance(found, str | int) or isinstance(found, bool):
            raise ValueError("order_key: must be text")
        if len(str(found)) > MAX_ORDER_KEY:
            raise ValueError(f"its order key is longer than {MAX_ORDER_KEY} characters")
        return str(found), rest


def as_text(payload: Mapping[str, Any]) -> str:
    """Write a payload as JSON that every server stores; raises PayloadError that says why not."""
    try:
        # What comes from CSV is flat, and by the million: a fifth of what json.dumps takes.
        text = _template(tuple(payload)) % tuple(map(_quoted, payload.values()))
    except TypeError:
        text = _nested_as_text(payload)
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise PayloadError("holds half a character (a lone surrogate)") from error
    return text


@lru_cache(maxsize=64)
def _template(names: tuple[str, ...]) -> str:
    fields = (_quoted(name).replace("%", "%%") + ": %s" for name in names)
    return "{" + ", ".join(fields) + "}"


def _nested_as_text(payload: Mapping[str, Any]) -> str:
    try:
        text = _ENCODER.encode(payload)
        if text.count("[") + text.count("{") > MAX_DEPTH and _depth(payload) > MAX_DEPTH:
            raise RecursionError
        if json_text.has_long_number(text) and (problem := _problem_in(payload)):
            raise PayloadError(problem)
    except RecursionError as error:
        raise PayloadError("nested too deeply") from error
    except (TypeError, ValueError) as error:
        raise PayloadError(_problem_in(payload) or f"the payload is not JSON: {error}") from error
    return text


def _problem_in(payload: Mapping[str, Any]) -> str | None:
    return json_text.problem_in(dict(payload), "payload")


class Template:
    """A text with `{column}` places, for dedupe keys, profiles and accounts."""

    def __init__(
        self,
        text: str,
        option: str = "--dedupe",
        what: str = "dedupe key",
        width: int = MAX_DEDUPE_KEY,
    ) -> None:
        try:
            self._parts = list(string.Formatter().parse(text))
        except ValueError as error:
            raise UsageError(f"{option} {text!r} is not a template: {error}") from error
        self.names = [name for _, name, _, _ in self._parts if name is not None]
        if not all(self.names):
            raise UsageError(f"{option} {text!r}: name the column, as in {{sku}}")
        self._what, self._width = what, width

    def fill(self, values: Mapping[str, Any]) -> str:
        """Fill the places in; raises ValueError for an unknown column or an over-long key."""
        filled = "".join(
            lead + ("" if name is None else str(_column(values, name)))
            for lead, name, _, _ in self._parts
        )
        if len(filled) > self._width:
            raise ValueError(f"its {self._what} is longer than {self._width} characters")
        return filled

    def fill_some(self, values: Mapping[str, Any]) -> str:
        """Fill the places in; raises ValueError also when nothing comes of it."""
        if not (filled := self.fill(values).strip()):
            raise ValueError(f"its {self._what} is empty")
        return filled


def check_order(wanted: Manifest, *, has_key: bool) -> None:
    """Raise PayloadError for a job that cannot have the order key it is to have."""
    if has_key and wanted.temporary:
        raise PayloadError(manifest.TEMPORARY_IN_ORDER)


def _route(
    text: str | None, option: str, what: str | None = None, width: int = manifest.MAX_NAME
) -> Template | None:
    return None if text is None else Template(text, f"--{option}", what or option, width)


def _depth(value: Any) -> int:
    if not isinstance(value, dict | list | tuple):
        return 0
    items = value.values() if isinstance(value, dict) else value
    return 1 + max(map(_depth, items), default=0)


def _column(values: Mapping[str, Any], name: str) -> Any:
    if name not in values:
        raise ValueError(f'there is no column "{name}"; there are {", ".join(values) or "none"}')
    return values[name]
