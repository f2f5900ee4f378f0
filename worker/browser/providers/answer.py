"""What a vendor's API has answered, and how a preset points at a place in it.

A path such as `data.ws.puppeteer` goes down by names, `0` into a list, and `[uuid={id}].state` to
the first item whose field has that value. `{name}` is filled in after the path was split.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# Further on there is a page or a list, and no word about what went wrong.
MOST_SEARCHED = 20_000

PLACE = re.compile(r"\{(\w+)(?::(\w+))?\}")
_STEP = re.compile(r"\[([^\[\]=]+)=([^\[\]]*)\]|([^.\[\]]+)")


@dataclass(frozen=True, slots=True)
class Condition:
    """What an answer must hold: one of `values` at `path`, or anything but nothing."""

    path: str
    values: tuple[str | int | bool, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """What a vendor answered; `data` is None when the body was not JSON."""

    status: int
    body: str
    data: Any
    retry_after: float | None = None
    # Where a redirect would have led: scheme, host and port.
    leads_to: str | None = None

    @property
    def is_positive(self) -> bool:
        return 200 <= self.status < 300

    def find(self, path: str, values: Mapping[str, str] | None = None) -> Any:
        """What stands at a path, or None."""
        found = self.data
        for key, wanted, name in _STEP.findall(path):
            if key:
                found = _item(found, _filled(key, values), _filled(wanted, values))
            else:
                found = _below(found, _filled(name, values))
        return found

    def holds(self, condition: Condition, values: Mapping[str, str] | None = None) -> bool:
        """Tell whether the condition is met, whatever the status is."""
        found = self.find(condition.path, values)
        if not condition.values:
            return bool(found)
        return any(_is_same(found, wanted) for wanted in condition.values)

    def meets(self, condition: Condition | None, values: Mapping[str, str] | None = None) -> bool:
        """Tell whether the answer is positive and holds what the condition asks for."""
        return self.is_positive and (condition is None or self.holds(condition, values))


@dataclass(frozen=True, slots=True)
class Mark:
    """How a kind of answer is recognised: by its status, a text in its body, or a field's value."""

    statuses: frozenset[int] = frozenset()
    text: re.Pattern[str] | None = None
    field: Condition | None = None

    def is_on(self, answer: Answer) -> bool:
        """Tell whether any of the three is there."""
        if answer.status in self.statuses:
            return True
        if self.field is not None and answer.holds(self.field):
            return True
        return bool(self.text and self.text.search(answer.body[:MOST_SEARCHED]))


def _filled(step: str, values: Mapping[str, str] | None) -> str:
    if values is None:
        return step
    return PLACE.sub(lambda found: values.get(found.group(1), found.group()), step)


def _below(value: Any, name: str) -> Any:
    if isinstance(value, dict):
        return value.get(name)
    if isinstance(value, list) and name.isascii() and name.isdigit() and int(name) < len(value):
        return value[int(name)]
    return None


def _item(value: Any, path: str, wanted: str) -> Any:
    if not isinstance(value, list):
        return None
    for item in value:
        found = item
        for name in path.split("."):
            found = _below(found, name)
        if _is_same(found, wanted):
            return item
    return None


def _is_same(found: Any, wanted: str | int | bool) -> bool:
    """Compare as vendors mean it: 0 may come as "0", and a state in any case."""
    if isinstance(found, bool) or isinstance(wanted, bool):
        return found is wanted
    return isinstance(found, str | int) and str(found).casefold() == str(wanted).casefold()
