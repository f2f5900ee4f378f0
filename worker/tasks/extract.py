"""The built-in task `extract`: CSS selectors in, JSON out.

Example: {"url": "https://example.com/p/1",
          "fields": {"name": "h1", "price": {"selector": ".price", "number": true},
                     "image": {"selector": "img", "attribute": "src"},
                     "tags": {"selector": ".tag", "all": true}}}
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from worker.errors import Fail
from worker.tasks.job import Job
from worker.tasks.opening import open_page
from worker.tasks.patience import (
    OPTIONAL_SECONDS,
    POLL_SECONDS,
    WANTED_SECONDS,
    Patience,
    checked_timeout,
)
from worker.tasks.registry import task

if TYPE_CHECKING:
    from worker.page_types import Locator, Page

# Longer is no number, only a page full of digits.
MAX_NUMBER = 400

_NUMBER = re.compile(r"-?\d[\d.,\s\u00a0\u202f']*")


@dataclass(frozen=True)
class Field:
    """One value to take from the page."""

    selector: str
    attribute: str | None = None
    all: bool = False
    optional: bool = False
    number: bool = False
    # Seconds to wait for it, from when the first field is looked for.
    timeout: float | None = None


@dataclass(frozen=True)
class ExtractPayload:
    """What `extract` needs."""

    url: str
    fields: dict[str, str | Field]
    wait_for: str | None = None


@task("extract")
def extract(page: Page, payload: ExtractPayload, job: Job) -> dict[str, Any]:
    """Open the page and take the named fields from it; one that is missing fails the job."""
    open_page(page, payload.url, job)
    if payload.wait_for is not None:
        page.locator(payload.wait_for).first.wait_for()
    return take_all(page, payload.fields, job)


def take_all(page: Page, fields: Mapping[str, str | Field], job: Job) -> dict[str, Any]:
    """Read all fields from the page, waiting for those that are not there yet.

    All wait from the beginning, so that ten that are missing take no longer than one.
    """
    wanted = {name: Field(each) if isinstance(each, str) else each for name, each in fields.items()}
    for name, field in wanted.items():
        if field.timeout is not None:
            checked_timeout(field.timeout, f'field "{name}"')
    patience = Patience(job)
    return {name: _take(page, name, field, patience) for name, field in wanted.items()}


def _take(page: Page, name: str, field: Field, patience: Patience) -> Any:
    found, seconds = page.locator(field.selector), field.timeout
    if seconds is None:
        seconds = OPTIONAL_SECONDS if field.optional or field.all else WANTED_SECONDS
    is_there = patience.wait_for(found, seconds)
    if field.all:
        return [_value(item, name, field) for item in found.all()]
    if not is_there:
        if field.optional:
            return None
        raise Fail(f'field "{name}": nothing on {page.url} matches {field.selector}')
    if field.number:
        # A text that is none is more often "sold out" than not there yet.
        seconds = OPTIONAL_SECONDS if field.timeout is None else field.timeout
        _await_number(found.first, field, patience.seconds_for(seconds))
    return _value(found.first, name, field)


def _await_number(item: Locator, field: Field, seconds: float) -> None:
    """Give what stands there the time to become a number: pages show a blank or a dash first."""
    deadline = time.monotonic() + seconds
    while parse_number(_text(item, field)) is None and time.monotonic() < deadline:
        item.page.wait_for_timeout(1000 * POLL_SECONDS)


def _text(item: Locator, field: Field) -> str | None:
    if field.attribute is not None:
        return item.get_attribute(field.attribute)
    return " ".join((item.text_content() or "").split())


def _value(item: Locator, name: str, field: Field) -> Any:
    value = _text(item, field)
    if not field.number:
        return value
    number = parse_number(value)
    if number is None and not field.optional:
        raise Fail(f'field "{name}": {(value or "")[:60]!r} is not a number ({field.selector})')
    return number


def parse_number(text: str | None) -> float | None:
    """Read `1,234.50`, `1.234,50` or `1 234,50`: one or two last digits are decimals.

    Without a number, or with one that is too large for any, it is None.
    """
    match = _NUMBER.search(text or "")
    if match is None:
        return None
    digits = re.sub(r"[\s\u00a0\u202f']", "", match.group()[:MAX_NUMBER]).rstrip(".,")
    decimal = re.search(r"[.,](\d{1,2})$", digits)
    whole = digits[: decimal.start()] if decimal else digits
    number = float(re.sub(r"[.,]", "", whole) + (f".{decimal.group(1)}" if decimal else ""))
    return number if math.isfinite(number) else None
