"""One table of a preset's file, read field by field; what nothing reads is an error at the end."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from worker.errors import SettingsError


class TomlTable:
    """Typed access to a table; every complaint names the file and the field."""

    def __init__(self, facts: Mapping[str, Any], where: str, prefix: str = "") -> None:
        self._facts = facts
        self._where = where
        self._prefix = prefix
        self._read: set[str] = set()
        self._parts: list[TomlTable] = []

    def close(self) -> None:
        """Raise SettingsError if the table, or one within it, holds what nothing has read."""
        for name in self._facts:
            if name not in self._read:
                known = ", ".join(sorted(self._read))
                raise self.wrong(name, f"is no field; there are {known}")
        for part in self._parts:
            part.close()

    def wrong(self, name: str, why: str) -> SettingsError:
        """Make the error about a field."""
        return SettingsError(f"{self._where}: {self._prefix}{name} {why}")

    def names(self) -> list[str]:
        """The names of all that is in the table."""
        return list(self._facts)

    def text(self, name: str) -> str:
        """Read a text that must be there."""
        found = self._get(name)
        if not isinstance(found, str) or not found.strip():
            raise self.wrong(name, "must be a text")
        return found

    def maybe_text(self, name: str) -> str | None:
        """Read a text that may be left out."""
        return self.text(name) if self._has(name) else None

    def texts(self, name: str) -> tuple[str, ...]:
        """Read a list of texts; none if it is left out."""
        found = self._get(name) if self._has(name) else []
        if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
            raise self.wrong(name, "must be a list of texts")
        return tuple(found)

    def texts_by_name(self, name: str) -> dict[str, str]:
        """Read a table whose values are texts; empty if it is left out."""
        found = self._get(name) if self._has(name) else {}
        if not isinstance(found, dict) or not all(isinstance(each, str) for each in found.values()):
            raise self.wrong(name, "must be a table of texts")
        return dict(found)

    def values(self, name: str) -> tuple[str | int | bool, ...]:
        """Read a list of texts, whole numbers, true and false; none if it is left out."""
        found = self._get(name) if self._has(name) else []
        if not isinstance(found, list) or not all(isinstance(each, str | int) for each in found):
            raise self.wrong(name, "must be a list of texts, whole numbers, true or false")
        return tuple(found)

    def statuses(self, name: str) -> frozenset[int]:
        """Read a list of HTTP statuses; none if it is left out."""
        found = self.values(name)
        if not all(isinstance(each, int) and 100 <= each <= 599 for each in found):
            raise self.wrong(name, "must be a list of HTTP statuses, such as [409]")
        return frozenset(int(each) for each in found)

    def pattern(self, name: str) -> re.Pattern[str] | None:
        """Read a regular expression, which is searched for in any case of letters."""
        if (text := self.maybe_text(name)) is None:
            return None
        try:
            return re.compile(text, re.IGNORECASE)
        except re.error as error:
            raise self.wrong(name, f"is no regular expression: {error}") from None

    def choice(self, name: str, choices: tuple[str, ...]) -> str:
        """Read one of some words."""
        found = self.text(name)
        if found not in choices:
            raise self.wrong(name, f"must be one of {', '.join(choices)}")
        return found

    def flag(self, name: str, *, default: bool = False) -> bool:
        """Read true or false."""
        found = self._get(name) if self._has(name) else default
        if not isinstance(found, bool):
            raise self.wrong(name, "must be true or false")
        return found

    def number(self, name: str, default: float, least: float, most: float) -> float:
        """Read a number within bounds."""
        found = self._get(name) if self._has(name) else default
        is_number = isinstance(found, int | float) and not isinstance(found, bool)
        if not is_number or not least <= found <= most:
            raise self.wrong(name, f"must be a number from {least:g} to {most:g}")
        return float(found)

    def json(self, name: str) -> dict[str, Any] | None:
        """Read what is sent as JSON; None if it is left out."""
        if not self._has(name):
            return None
        found = self._get(name)
        if not isinstance(found, dict):
            raise self.wrong(name, "must be a table, which is sent as a JSON object")
        return found

    def table(self, name: str) -> TomlTable:
        """Read a table that must be there."""
        found = self._get(name)
        if not isinstance(found, dict):
            raise self.wrong(name, "must be a table")
        part = TomlTable(found, self._where, f"{self._prefix}{name}.")
        self._parts.append(part)
        return part

    def optional(self, name: str) -> TomlTable | None:
        """Read a table that may be left out."""
        return self.table(name) if self._has(name) else None

    def _has(self, name: str) -> bool:
        self._read.add(name)
        return name in self._facts

    def _get(self, name: str) -> Any:
        if not self._has(name):
            raise self.wrong(name, "is missing")
        return self._facts[name]
