"""No text makes a regex slow: 1 MB of its worst case takes less than 50 ms.

A regex that goes back and back holds Python's lock, so that no watchdog can act: 1 MB of a hostile
page once stopped a worker for 15 s. Every compiled regex of `worker/` is tried with texts that make
regexes go back; what its caller cuts first is cut here too. To add a worst case, add its part.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import worker
from worker.evidence.redaction import redact_text
from worker.log import MAX_LINE

SIZES = (2_000, 20_000, 200_000, 1_000_000)
SECONDS = 0.050
# What a regex that never goes back takes for 1 MB where that limit was set: other machines, and
# this one beside other work, have more time in the same measure.
PLAIN = re.compile(r"[b-z]\d")
PLAIN_SECONDS = 0.003
# Finding something costs as well, but only once for each find.
SECONDS_A_FIND = 2e-6

# Texts of these rooms are typed by the operator or cut by their callers, to this many characters.
LENGTHS = {
    "worker.block_patterns": 253,
    "worker.context_fields:_SECRET_HEADER": 100,
    "worker.browser.failures": 20_000,
    "worker.browser.launch": 20_000,
    "worker.browser.providers": 2_000,
    "worker.cli": 2_000,
    "worker.database": 20_000,
    "worker.database_settings": 2_000,
    "worker.evidence.fingerprint": 2_000,
    "worker.evidence.html_secrets:_ATTRIBUTE": 100_000,
    "worker.evidence.secret_names": 300,
    "worker.evidence.shared_place": 300,
    "worker.evidence.known_secrets": 200_000,
    "worker.guards": 2_000,
    "worker.history": 2_000,
    "worker.profiles.doubts": 2_000,
    "worker.proxies": 2_000,
    "worker.system.private_environment": 2_000,
}
# Repeated, each of these makes some regex try again at every place.
PARTS = [
    "a", "1", "a-", "1.", " ", "\\", '\\"', "'", '"', "(", "[", "{a", "&a", "?a=", "://", "http://a:",
    "://a:'", "x@", "%3A%2F%2F", "%3F", "basic ", "<meta ", '<meta "', "<input '", "<input a=",
    'token="', 'password":', 'fill("', "locator(", 'selector "', "got '", "«", "0xf", "HTTP ",
    "Timeout 1", "page has ", "submit", "Control+", '"a":"',
    "%22a%22:", "&quot;a&quot;:", "<a>", "<a><![CDATA[",
]  # fmt: skip
ENDS = ("", "!", "@", "=")
# Their caller cuts the text after its last @, so that they never search in vain.
ENDING_IN_AT = {"worker.evidence.redaction:_WEB_LOGIN", "worker.evidence.redaction:_OTHER_LOGIN"}


def regexes() -> Iterator[tuple[str, re.Pattern[str], bool]]:
    """Find every compiled regex, and whether it is only asked about the beginning of a text."""
    for found in pkgutil.walk_packages(worker.__path__, "worker."):
        if found.name == "worker.testing":
            # A plugin of pytest, which has to be the first to import it.
            continue
        module = importlib.import_module(found.name)
        for name, value in vars(module).items():
            inner = value.values() if isinstance(value, dict) else [value]
            for pattern in inner:
                if isinstance(pattern, re.Pattern) and isinstance(pattern.pattern, str):
                    yield f"{found.name}:{name}", pattern, is_anchored(module.__file__, name)


def is_anchored(path: str, name: str) -> bool:
    uses = re.findall(rf"\b{name}\.(\w+)\(", Path(path).read_text(encoding="utf-8"))
    return bool(uses) and set(uses) <= {"match", "fullmatch"}


def longest_text(name: str) -> int:
    return next((size for room, size in LENGTHS.items() if name.startswith(room)), SIZES[-1])


def seconds(pattern: re.Pattern[str], text: str, is_anchored: bool) -> float:
    """Time one search on the processor; what finding itself costs is taken off."""
    began = time.thread_time()
    found = 0
    if is_anchored:
        pattern.match(text)
        pattern.fullmatch(text)
    else:
        found = sum(1 for _ in pattern.finditer(text))
    return time.thread_time() - began - found * SECONDS_A_FIND


def slowness() -> float:
    """Say how much slower than usual this machine is at this moment."""
    return max(1.0, seconds(PLAIN, "a" * SIZES[-1], is_anchored=False) / PLAIN_SECONDS)


REGEXES = list(regexes())


@pytest.mark.parametrize(
    ("name", "pattern", "is_anchored"), REGEXES, ids=[name for name, _, _ in REGEXES]
)
def test_no_text_makes_a_regex_slow(name, pattern, is_anchored):
    ends = ("@",) if name in ENDING_IN_AT else ENDS
    slow = [p for p in PARTS if is_slow(pattern, p, longest_text(name), is_anchored, ends)]

    assert slow == []


def is_slow(
    pattern: re.Pattern[str], part: str, longest: int, is_anchored: bool, ends: tuple[str, ...]
) -> bool:
    """Try ever longer texts, four times before one is called slow."""
    for size in (size for size in SIZES if size <= longest):
        for end in ends if size <= SIZES[1] else ends[:1]:
            text = part * (size // len(part)) + end
            took = seconds(pattern, text, is_anchored)
            if took > SECONDS and all(
                seconds(pattern, text, is_anchored) > SECONDS * slowness() for _ in range(3)
            ):
                return True
        if size == SIZES[2] and took < SECONDS / 25:
            # Five times the text takes twenty-five times as long at worst.
            return False
    return False


@pytest.mark.parametrize("part", PARTS)
def test_a_text_of_a_megabyte_is_redacted_in_no_time(part):
    """The launcher's own loop redacts too; lines that are logged are cut first."""
    text = part * (1_000_000 // len(part))
    limit = 1.0
    for cut in (text[:MAX_LINE], text):
        began = time.thread_time()
        redact_text(cut)
        took = time.thread_time() - began
        assert took < limit, f"{len(cut)} characters took {took:.2f} s"


def test_no_group_is_repeated_possessively():
    # Debian 12's Python 3.11.2 lets such a group give back what it has taken; (?>(?:…)*) does not.
    possessive = re.compile(r"(?<!\\)\)(?:[+*?]|\{[\d,]+\})\+")
    harmless = "(?:25)*+"
    texts = {name: pattern.pattern.replace(harmless, "") for name, pattern, _ in REGEXES}

    assert [name for name, text in texts.items() if possessive.search(text)] == []
