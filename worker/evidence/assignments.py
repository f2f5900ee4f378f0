"""Secrets in running text, known by the name before them: `password=…`, `"token": "…"`.

JSON may be escaped, once or more: `\\"password\\": \\"…\\"`. A header's value reaches to the end of
its line. Every text is read once: what was masked is not looked at again.
"""

from __future__ import annotations

import re

from worker.evidence.known_secrets import MASK

# A value without an end is masked up to here, so that no text is searched twice.
MAX_VALUE = 10_000

_KEYS = tuple(
    f"{kind}{mark}key" for kind in ("api", "access", "private", "secret") for mark in ("", "-", "_")
)
# Where a secret's name may end. Plain texts are searched for them twenty times as fast as one
# regex with all of them as its branches would be.
_ENDINGS = (
    "passw", "passphrase", "passcode", "pass", "pwd", "secret", "token", *_KEYS, "signature",
    "credential", "creds", "sessid", "session", "csrf", "xsrf", "jwt", "otp", "sid", "pw", "sig",
    "auth", "cookie",
)  # fmt: skip
# Each of them holds one of these, and most texts hold few: less than half as much is searched for.
_MARKS = (
    "pass", "pw", "secret", "token", "key", "sig", "cred", "sess", "srf", "jwt", "otp", "sid",
    "auth", "cookie",
)  # fmt: skip
_ENDINGS_BY_MARK = {mark: tuple(ending for ending in _ENDINGS if mark in ending) for mark in _MARKS}
_HEADER = r"authorization|cookie"
_STRONG = (
    r"passw(?:or)?d|passwort|passphrase|passcode|pwd|secret|token|(?:api|access|private|secret)"
    r"[-_]?key|signature|credentials?|sessid|session[-_]?(?:id|key)|csrf|xsrf"
)
_STRONG_WORD = r"jwt|otp|totp|sid|pw|sig"
# Also ordinary words: secrets only as `name=value` or as a name in quotes.
_WEAK_WORD = r"auth|session|pass|creds"
_NAME = re.compile(
    rf"(?:(?P<header>{_HEADER})|{_STRONG}|(?<![a-z0-9])(?:{_STRONG_WORD}|(?P<weak>{_WEAK_WORD})))"
    r"(?:(?>(?P<quote>\\*+[\"'])?)(?P<before>[ \t]*+)[=:](?P<after>[ \t]*+)"
    # A header or a field as a pair: {"name": "cookie", "value": "…"}.
    r"|\\*+[\"'][ \t]*+,[ \t]*+\\*+[\"']value\\*+[\"'][ \t]*+:[ \t]*+)",
    re.IGNORECASE,
)
_OPENING = re.compile(r"(\\*+)([\"'])")
_CLOSING = {quote: re.compile(rf"(?<!\\)(\\*+){quote}") for quote in "\"'"}
_BARE = re.compile(r"""(?![{\[(])[^\s"'&,;}]++""")
_REST_OF_LINE = re.compile(r"""[^\r\n"'}]*+""")
_NOTHING = frozenset({"null", "none", "true", "false", "undefined"})


def mask_assignments(text: str) -> str:
    """Mask what is assigned to a secret's name."""
    parts, done = [], 0
    for place in _places(text):
        if place < done or (name := _NAME.match(text, place)) is None or _is_prose(name):
            continue
        start, end = _value(text, name.end(), is_header=bool(name["header"]))
        if start < end and not _is_harmless(text[start:end]):
            parts += [text[done:start], MASK]
            done = end
    return "".join(parts) + text[done:]


def _places(text: str) -> list[int]:
    """Find where a secret's name may be, in the text's order."""
    if "=" not in text and ":" not in text:
        return []
    lowered = text.lower()
    if len(lowered) != len(text):
        # A few letters of other alphabets grow when they are lowered.
        lowered = "".join(letter.lower() if letter.isascii() else "?" for letter in text)
    places = set()
    for ending in (each for mark in _MARKS if mark in lowered for each in _ENDINGS_BY_MARK[mark]):
        place = lowered.find(ending)
        while place >= 0:
            places.add(place)
            place = lowered.find(ending, place + len(ending))
    return sorted(places)


def _is_prose(name: re.Match[str]) -> bool:
    """Tell whether an ordinary word only happens to stand before a colon: "3 pass: 2 failed"."""
    if name["weak"] is None or name["before"] is None or name["quote"] is not None:
        return False
    return bool(name["before"] or name["after"]) or not name[0].endswith("=")


def _value(text: str, start: int, *, is_header: bool) -> tuple[int, int]:
    """Find where a value begins and ends."""
    if opening := _OPENING.match(text, start):
        return opening.end(), _end_of_quoted(text, opening)
    found = (_REST_OF_LINE if is_header else _BARE).match(text, start, start + MAX_VALUE)
    return (start, found.end()) if found else (start, start)


def _end_of_quoted(text: str, opening: re.Match[str]) -> int:
    """Find the quote that closes a value: one that is not escaped any deeper than the first."""
    start, slashes = opening.end(), len(opening[1])
    end = min(start + MAX_VALUE, len(text))
    line = text.find("\n", start, end)
    end = end if line < 0 else line
    for closing in _CLOSING[opening[2]].finditer(text, start, end):
        depth = len(closing[1])
        if (depth <= slashes) if slashes else (depth % 2 == 0):
            return closing.start()
    return end


def _is_harmless(value: str) -> bool:
    return value.startswith(MASK) or value.strip().lower() in _NOTHING
