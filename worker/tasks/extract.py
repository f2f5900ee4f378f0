"""The built-in task `extract`: CSS selectors in, JSON out.

Example: {"url": "https://example.com/p/1",
          "fields": {"name": "h1", "price": {"selector": ".price", "number": true},
                     "image": {"selector": "img", "attribute": "src"},
                     "tags": {"selector": ".tag", "all": true}}}
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from worker.errors import Fail
from worker.tasks.job import Job
from worker.tasks.opening import open_page
from worker.tasks.registry import task

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

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
    return {name: take(page, name, field) for name, field in payload.fields.items()}


def take(page: Page, name: str, field: str | Field) -> Any:
    """Read one field from the page as it stands."""
    wanted = Field(field) if isinstance(field, str) else field
    found = page.locator(wanted.selector)
    if wanted.all:
        return [_value(item, name, wanted) for item in found.all()]
    if found.count() == 0:
        if wanted.optional:
            return None
        raise Fail(f'field "{name}": nothing on {page.url} matches {wanted.selector}')
    return _value(found.first, name, wanted)


def _value(item: Locator, name: str, field: Field) -> Any:
    if field.attribute is not None:
        value = item.get_attribute(field.attribute)
    else:
        value = " ".join((item.text_content() or "").split())
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
