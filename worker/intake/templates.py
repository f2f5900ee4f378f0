"""Texts with `{column}` places, for dedupe keys, profiles, accounts and order keys.

`{today}` and other dates are there beside the columns, all of one moment: a file that is read past
midnight has one date. A column of that name comes first.
"""

from __future__ import annotations

import string
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from worker.errors import UsageError

# Dates by this machine's clock; a form of one's own stands behind a colon: {today:%d.%m.%Y}.
DATES = {
    "today": "%Y-%m-%d",
    "hour": "%Y-%m-%dT%H",
    "week": "%G-W%V",
    "month": "%Y-%m",
    "year": "%Y",
}


class Template:
    """A text whose places are filled from a line's columns, or with dates."""

    def __init__(
        self,
        text: str,
        option: str = "--dedupe",
        what: str = "dedupe key",
        width: int | None = None,
        now: datetime | None = None,
    ) -> None:
        try:
            parts = list(string.Formatter().parse(text))
        except ValueError as error:
            raise UsageError(f"{option} {text!r} is not a template: {error}") from error
        self._what, self._width = what, width
        self._dates: dict[str, str] = {}
        # What stands before each place, and the name of its column.
        self._parts: list[tuple[str, str | None]] = []
        moment = now or datetime.now().astimezone()
        for lead, name, form, conversion in parts:
            if name == "":
                raise UsageError(f"{option} {text!r}: name the column, as in {{sku}}")
            if conversion or (form and name not in DATES):
                raise UsageError(
                    f"{option} {text!r}: only dates have a form, as in {{today:%Y%m%d}}"
                )
            place = f"{name}:{form}" if form else name
            if place is not None and name in DATES:
                self._dates[place] = moment.strftime(form or DATES[name])
            self._parts.append((lead, place))

    def fill(self, values: Mapping[str, Any]) -> str:
        """Fill the places in; raises ValueError for a column that is not there, empty or too long.

        An empty cell would give all such lines one key, or somebody else's profile.
        """
        filled = "".join(
            lead if place is None else lead + self._at(place, values) for lead, place in self._parts
        )
        if not filled.strip():
            raise ValueError(f"its {self._what} is empty")
        if self._width is not None and len(filled) > self._width:
            raise ValueError(f"its {self._what} is longer than {self._width} characters")
        return filled

    def _at(self, place: str, values: Mapping[str, Any]) -> str:
        if place in self._dates and place not in values:
            return self._dates[place]
        value = column(values, place)
        if value is None or (text := str(value)).strip() == "":
            raise ValueError(f'its {self._what} is incomplete: "{place}" is empty')
        return text


def column(values: Mapping[str, Any], name: str) -> Any:
    """Return what a line has in a column; raises ValueError that names those it has."""
    if name not in values:
        raise ValueError(f'there is no column "{name}"; there are {", ".join(values) or "none"}')
    return values[name]
