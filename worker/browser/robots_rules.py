"""What a site's robots.txt says to us: whether a page may be opened, and by which line it may not.

Protego reads it, by RFC 9309. What a hostile file could make large is bounded before: its length,
and how many groups of rules are kept.
"""

from __future__ import annotations

import re
from functools import cached_property

from protego import Protego

# RFC 9309 wants at least 500 KiB to be read.
MAX_BYTES = 512_000
# Names of robots of which ours could be meant; more than that is no honest file.
MAX_NAMES = 5
MAX_SHOWN = 100
OTHERS = "none-of-ours"

_AGENT = re.compile(r"[\ufeff\s]*user[-\s]*agent\b\s*:?(.*)", re.IGNORECASE)
_DISALLOW = re.compile(r"\s*disallow\s*:(.*)", re.IGNORECASE)
# What opens and closes a group of rules is a line that says something.
_COMMENT = re.compile(r"#.*")


class RobotsRules:
    """The rules of one robots.txt for one user agent."""

    def __init__(self, text: str, agent: str) -> None:
        self._agent = agent
        self._lines = _without_strangers(text.splitlines(), agent)
        self._rules = Protego.parse("\n".join(self._lines))

    def allows(self, url: str) -> bool:
        """Whether a page may be opened."""
        return self._rules.can_fetch(url, self._agent)

    @property
    def crawl_delay(self) -> float | None:
        """How many seconds the site wants between two requests, if it says so."""
        return self._rules.crawl_delay(self._agent)

    def why_not(self, url: str) -> str:
        """Name the line that refuses a page: the longest rule that fits it, as RFC 9309 has it."""
        found: tuple[int, str] | None = None
        names: list[str] = []
        is_open = False
        for number, line in enumerate(self._lines, 1):
            if (name := _name_in(line)) is not None:
                names = [*names, name] if is_open else [name]
                is_open = True
                continue
            is_open = is_open and not _COMMENT.sub("", line).strip()
            rule = _DISALLOW.match(_COMMENT.sub("", line))
            path = rule[1].strip() if rule and self._group in names else ""
            is_longer = found is None or len(path) > len(found[1])
            if path and is_longer and not _alone(path).can_fetch(url, "any"):
                found = number, path
        if found is None:
            return "by its rules"
        return f'by line {found[0]}, "Disallow: {found[1][:MAX_SHOWN]}"'

    @cached_property
    def _group(self) -> str:
        """The name whose rules are ours: the longest that fits, else `*`."""
        names = {name for line in self._lines if (name := _name_in(line)) and name != "*"}
        return max((name for name in names if _is_meant(name, self._agent)), key=len, default="*")


def _without_strangers(lines: list[str], agent: str) -> list[str]:
    """Let all names of robots that are not ours be one, line by line."""
    kept: set[str] = set()

    def plain(line: str) -> str:
        name = _name_in(line)
        if name is None or name == "*" or name in kept:
            return line
        if len(kept) < MAX_NAMES and _is_meant(name, agent):
            kept.add(name)
            return line
        return f"User-agent: {OTHERS}"

    return [plain(line) for line in lines]


def _name_in(line: str) -> str | None:
    found = (
        _AGENT.match(_COMMENT.sub("", line)) if line[:40].strip("\ufeff \t")[:1] in "uU" else None
    )
    if found is None:
        return None
    name = found[1].strip().lower()
    return name if name == "*" else name.replace("*", "")


def _is_meant(name: str, agent: str) -> bool:
    return bool(name) and not Protego.parse(f"User-agent: {name}\nDisallow: /").can_fetch(
        "https://any/", agent
    )


def _alone(path: str) -> Protego:
    return Protego.parse(f"User-agent: *\nDisallow: {path}")
