"""Jobs out of records: which column becomes which field, the dedupe key, and the task's check."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from json.encoder import encode_basestring as _quoted
from typing import Any

from worker import json_text
from worker.errors import PayloadError
from worker.evidence.redaction import redact_text
from worker.intake.dedupe_keys import fitting
from worker.intake.records import Record
from worker.intake.templates import Template, column
from worker.profiles import manifest
from worker.profiles.manifest import Manifest

MAX_ORDER_KEY = 191
# What a line may name beside its payload, and how long that may be.
BESIDE = {
    "profile_id": manifest.MAX_NAME,
    "account_id": manifest.MAX_NAME,
    "order_key": MAX_ORDER_KEY,
}
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
        optional: frozenset[str] = frozenset(),
    ) -> None:
        """`optional` are fields that a payload lacks where its line has an empty text for them."""
        self._columns = columns or {}
        self._dedupe = Template(dedupe) if dedupe else None
        self._route = (
            _route(profile, "profile"),
            _route(account, "account"),
            _route(order_key, "order-key", "order key", MAX_ORDER_KEY),
        )
        self.is_routed = any(self._route)
        self._check = check
        self._optional = optional

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
        """Look at the first record: if it names its profile, account or order key, all may."""
        first = next(records, None)
        if first is None:
            return records
        if isinstance(first[1], dict) and not BESIDE.keys().isdisjoint(first[1]):
            self.is_routed = True
        return chain([first], records)

    def _job(self, values: dict[str, Any]) -> NewJob:
        beside: dict[str, str] = {}
        payload = values
        if not BESIDE.keys().isdisjoint(values):
            beside, payload = self._beside(values)
        if self._columns:
            payload = {field: column(values, name) for field, name in self._columns.items()}
        if self._optional and "" in payload.values():
            payload = {
                field: value
                for field, value in payload.items()
                if value != "" or field not in self._optional
            }
        if "manifest" in payload:
            profile, account, order_key = self._routed(values, payload, beside)
            wanted = manifest.check(payload, profile, account)
            check_order(wanted, has_key=order_key is not None)
        self._check(payload)
        key = fitting(self._dedupe.fill({**values, **payload})) if self._dedupe else None
        if not self.is_routed:
            return as_text(payload), key
        return as_text(payload), key, *self._routed(values, payload, beside)

    def _routed(
        self, values: dict[str, Any], payload: dict[str, Any], beside: dict[str, str]
    ) -> tuple[str | None, str | None, str | None]:
        """Name profile, account and order key: by the template for all lines, or the line's own."""
        columns = {**values, **payload}
        profile, account, key = (
            part.fill(columns).strip() if part else beside.get(name)
            for name, part in zip(BESIDE, self._route, strict=True)
        )
        return profile, account, key

    def _beside(self, values: dict[str, Any]) -> tuple[dict[str, str], dict[str, Any]]:
        """Take out of a line's values what is no payload; a template for all has its place."""
        own = {
            name
            for name, part in zip(BESIDE, self._route, strict=True)
            if name in values and part is None
        }
        rest = {name: value for name, value in values.items() if name not in own}
        found = {name: text for name in own if (text := _beside_text(name, values[name]))}
        if own and not self.is_routed:
            name = min(own)
            raise ValueError(f"has {name}, but the first line has none; give it one, or null")
        return found, rest


def _beside_text(name: str, value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise ValueError(f"{name}: must be text")
    if len(text := str(value).strip()) > BESIDE[name]:
        raise ValueError(f"{name}: longer than {BESIDE[name]} characters")
    return text


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
