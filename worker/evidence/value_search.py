"""Replace many texts in a text: fast for few of them, and still in bounds for a hundred thousand.

Texts of fewer than six characters are replaced as whole words only, longer ones everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

# From here on a value is masked inside words too.
UNMISTAKABLE_LENGTH = 6
# With more values than this, those that cannot be in a text are sorted out before the search.
MANY = 500

_EDGE_BEFORE = r"(?:(?<![A-Za-z0-9])|(?<=%[0-9A-Fa-f]{2}))"
_EDGE_AFTER = r"(?![A-Za-z0-9])"
# No text that is looked for is shorter.
_START = 4


class ValueSearch:
    """What to replace, the longest first: a short one may be part of a longer one."""

    def __init__(self, wanted: Iterable[str] = ()) -> None:
        ordered = sorted(wanted, key=lambda each: (-len(each), each))
        self._long = [each for each in ordered if len(each) >= UNMISTAKABLE_LENGTH]
        self._short = [each for each in ordered if len(each) < UNMISTAKABLE_LENGTH]
        # Many are put together anew for each text: those that it may hold.
        self._words = None if len(self._short) > MANY else _as_words(self._short)

    def replace(self, text: str, by: str) -> str:
        """Put `by` in the place of everything that is found."""
        for each in self._possible(self._long, text):
            if each in text:
                text = text.replace(each, by)
        words = self._words
        if len(self._short) > MANY:
            words = _as_words(self._possible(self._short, text))
        return text if words is None else words.sub(lambda _: by, text)

    def _possible(self, wanted: list[str], text: str) -> list[str]:
        """Leave out, of many, those whose first letters are nowhere in the text."""
        if len(wanted) <= MANY:
            return wanted
        starts = {text[at : at + _START] for at in range(len(text) - _START + 1)}
        return [each for each in wanted if each[:_START] in starts]


def _as_words(short: list[str]) -> re.Pattern[str] | None:
    joined = "|".join(re.escape(each) for each in short)
    return re.compile(f"{_EDGE_BEFORE}(?:{joined}){_EDGE_AFTER}") if short else None
