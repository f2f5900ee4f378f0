"""What a selector may be called now: a class, id or attribute of today's page with a similar name.

A guess by names alone, always the same for the same pages. `.price` leads to `.product-price`,
because a word of it is the same, and to `.prices`, because nearly all its letters are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher

# A page may have any number of names; nobody guesses among more.
MAX_NAMES = 2000
MAX_NAME = 50
# `.price` and `.slice` have 0.6 of their letters in common, and nothing else.
LEAST_LIKENESS = 0.65

_SIMPLE = re.compile(
    r"""([.#])([\w-]{1,80})|\[\s{0,4}([\w-]{1,40})\s{0,4}[~|^$*]?=\s{0,4}["']?([^"'\]]{1,80})"""
)
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_a-zA-Z]+")


def names_in(selector: str) -> list[str]:
    """List the classes, ids and attributes in a CSS selector: `.price`, `#buy`, `[name="q"]`."""
    return [
        f"{mark}{name}" if mark else f'[{attribute}="{value.strip()}"]'
        for mark, name, attribute, value in _SIMPLE.findall(selector)
    ]


def nearest(selector: str, now: Mapping[str, int], then: Iterable[str] = ()) -> str | None:
    """Find the name of today's page that is most like the one that the selector misses.

    `now` has the page's names in their order with the number of their elements, `then` those of the
    page before: what is new counts more. None when nothing is alike.
    """
    before = set(then)
    lost = [name for name in names_in(selector) if name not in now]
    # What was there before and is gone is it; of several, the last says most closely what is meant.
    wanted = next((name for name in reversed(lost) if name in before), lost[-1] if lost else None)
    if wanted is None:
        return None
    best: tuple[float, ...] | None = None
    found = None
    for place, name in enumerate(list(now)[:MAX_NAMES]):
        likeness = _likeness(wanted, name)
        if likeness < LEAST_LIKENESS:
            continue
        rank = (name not in before, likeness, name[0] == wanted[0], -now[name], -place)
        if best is None or rank > best:
            best, found = rank, name
    return found


def _likeness(one: str, other: str) -> float:
    one, other = _bare(one), _bare(other)
    words, others = _words(one), _words(other)
    common = len(words & others) / (min(len(words), len(others)) or 1)
    matcher = SequenceMatcher(None, one.lower(), other.lower(), autojunk=False)
    # Cheaper upper bounds first, since nearly all names differ.
    if not common and min(matcher.real_quick_ratio(), matcher.quick_ratio()) < LEAST_LIKENESS:
        return 0.0
    letters = matcher.ratio()
    return max(letters, (letters + common) / 2)


def _bare(name: str) -> str:
    """Take a name out of its selector: `price` of `.price`, `q` of `[name="q"]`."""
    if name.startswith("["):
        return name.partition("=")[2].strip('"]')[:MAX_NAME]
    return name[1:][:MAX_NAME]


def _words(name: str) -> set[str]:
    return {word.lower() for word in _WORDS.findall(name)}
