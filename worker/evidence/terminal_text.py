"""A stranger's text made fit for a terminal: shown, never obeyed.

What pages, payloads and people's files say is a stranger's text. `one_line` is for places where one
line is meant, so that nobody can add another; `printable` keeps the lines of a longer text.
"""

from __future__ import annotations

import json
import re

# C0 and C1 controls but for tab and newline; half characters, which no stream takes; the marks that
# turn the reading direction; what has no width, or breaks a line where nobody sees it.
_OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_BREAKS = re.compile("[\t-\r\x1c-\x1f\x85\u2028\u2029]+")


def printable(text: str) -> str:
    """Replace every character that a terminal might obey instead of showing it; lines stay."""
    # Most texts are fine, and this asks in C: none of those characters counts as printable.
    is_fine = text.isprintable() or text.replace("\n", "").replace("\t", "").isprintable()
    return text if is_fine else _OBEYED.sub("?", text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """Do the same, and make one line of it: what breaks lines becomes a space."""
    return text if text.isprintable() else _OBEYED.sub("?", _BREAKS.sub(" ", text))


def visible_json(text: str) -> str:
    """Escape, in JSON that was written already, what a terminal might obey: its value stays."""
    if text.isascii() and "\x7f" not in text:
        # A JSON writer has escaped the other controls itself.
        return text
    return _OBEYED.sub(lambda found: json.dumps(found[0])[1:-1].replace("\x7f", "\\u007f"), text)
