"""What was typed, in Playwright's call logs and in a task's own lines: `fill("…")`, `type("…")`.

Which field it was typed into cannot be known there, so all of it is masked. Keys with a name, as in
`press("Enter")`, stay.
"""

from __future__ import annotations

import re

from worker.evidence.known_secrets import MASK

# Playwright writes a value as it is, with its own quotes and line ends.
MAX_TYPED = 5_000

_CALL = re.compile(
    r"(?<!\w)(?:fill|type|press|press_sequentially|pressSequentially|insert_text|insertText)"
    r"\((?=[\"'])"
)
_NAMED_KEY = re.compile(
    r"[\"'](?:(?:Control|Shift|Alt|Meta|ControlOrMeta)\+)*"
    r"(?:Enter|Tab|Escape|Backspace|Delete|Insert|Space|Home|End|PageUp|PageDown|F\d{1,2}"
    r"|Arrow(?:Up|Down|Left|Right))[\"']$"
)

_LOGGED = re.compile(r"[ \t]*+(?:-[ \t]*+)?(?:elementHandle\.)?\w++\(")
_END_OF_LOGGED = re.compile(r"[\"']\)(?=\n|$)")


def mask_typed(text: str) -> str:
    """Mask the arguments of every call that types something."""
    if "fill(" not in text and "type(" not in text and "press" not in text and "nsert" not in text:
        return text
    parts, done = [], 0
    for call in _CALL.finditer(text):
        if call.start() < done:
            continue
        end = _end_of_arguments(text, call.end())
        typed = text[call.end() : end]
        if not (call[0].startswith("press(") and _NAMED_KEY.search(typed[-40:])):
            parts += [text[done : call.end()], MASK]
        else:
            parts.append(text[done:end])
        done = end
    return "".join(parts) + text[done:]


def _end_of_arguments(text: str, start: int) -> int:
    """Find the bracket that closes a call: the last one of its line, or of a later line."""
    end = min(start + MAX_TYPED, len(text))
    line = text.find("\n", start, end)
    line = end if line < 0 else line
    bracket = text.rfind(")", start, line)
    if bracket >= 0 and (bracket == line - 1 or not _is_of_log(text, start)):
        return bracket
    # In a call log the call ends its line: what was typed holds a line end itself.
    closing = _END_OF_LOGGED.search(text, line, end)
    return closing.start() + 1 if closing else line


def _is_of_log(text: str, start: int) -> bool:
    before = text[max(0, start - 80) : start].rpartition("\n")[2]
    return _LOGGED.fullmatch(before) is not None
