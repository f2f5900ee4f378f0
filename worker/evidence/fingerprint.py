"""Give failures that are really the same error the same name, so that 214 are one line.

Two failures are the same when class, task, action, selector, wording and the innermost frame
of the project's own code agree. What differs from job to job is stripped from the wording:
addresses, numbers, and what stands in quotes unless it is a name in somebody's code.
"""

from __future__ import annotations

import hashlib
import re
import sysconfig
import traceback
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

Frame = tuple[str, str]

_ACTION = re.compile(r"^([A-Z]\w*\.\w+): ")
_SELECTOR = re.compile(
    r"waiting for ((?:locator|get_by_\w+|getBy\w+|frame_locator|frameLocator)\(.*)"
)
# A bracket that closes ends an address, unless one was opened within: `http://[::1]/`.
_URL = re.compile(
    r"\b[a-z][a-z0-9+.-]{0,20}://"
    r"(?:[^\s'\"<>()\[\]]|\[[^\s'\"<>\[\]]*\]|\([^\s'\"<>()]*\)|[(\[])+",
    re.IGNORECASE,
)
_UUID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", re.IGNORECASE)
_HEX = re.compile(r"\b(?:0x)?(?=[0-9a-f]*\d)[0-9a-f]{8,}\b", re.IGNORECASE)
_DURATION = re.compile(r"\b\d+(?:\.\d+)?\s*(?:ms|s|seconds?|minutes?|min|h|hours?)\b")
# But for a status: HTTP 404 and HTTP 500 are different errors.
_DIGITS = re.compile(r"(?<!\d)(?!(?<=\bHTTP )\d{3}\b)\d+(?:[.,:]\d+)*")
# In a selector `h1` and `h2` differ in meaning, `#row-7` and `.item-4711` do not.
_SELECTOR_DIGITS = re.compile(r"\d{2,}|(?<![a-zA-Z])\d")
_VISIBLE = " to be "

# An apostrophe inside a word neither opens nor closes a quotation.
_QUOTED = re.compile(
    r"""(?P<before>\bgot\ )?
        (?P<quoted>(?<!\w)'(?>(?:[^'\\]|\\.|(?<=\w)'(?=\w))*)'(?!\w)
                  |"(?>(?:[^"\\]|\\.)*)"
                  |`[^`]*` |«[^«»]*» |»[^«»]*« |“[^“”]*” |„[^„“”]*[“”] |(?<!\w)‘[^‘]*?’(?!\w))""",
    re.VERBOSE,
)
# Selectors in a message are the task's own words: different selectors are different errors.
_QUOTED_SELECTOR = re.compile(
    r"\b(?:locator|get_by_\w+|getBy\w+|frame_locator|frameLocator)\((?:[^()]|\([^()]*\))*\)"
    r"|\bselector (?:\"[^\"]*\"|'[^']*'|`[^`]*`)"
)
# These errors quote names in code: an attribute, a field of a payload, a task.
_NAMING = re.compile(
    r"\b(?:AttributeError|NameError|UnboundLocalError|TypeError|ReferenceError|SyntaxError|"
    r"ImportError|ModuleNotFoundError|PayloadError|TaskNotFound)\b"
)
_NAME = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*")
# A missing key is a field's name (`row["price"]`) or a job's value (`stock["SKU-17"]`).
_KEY_NAME = re.compile(r"[a-z_][A-Za-z_]*")

# Ours, wherever it stands: `worker/` in a checkout, `nightshift/_worker/` where it is installed.
_PACKAGE = Path(__file__).parents[1]
# What calls tasks, and what stands between them and their pages: that a failure came through here
# tells nothing.
_MACHINERY = (_PACKAGE / "execution", _PACKAGE / "browser")

MAX_LABEL = 240
# Messages quote what is on the page, at any length: cut first, then read.
MAX_MESSAGE = 20_000
MAX_WORDING = 1000
# Failures come in hundreds of the same: the latest ones are described once.
KNOWN_FAILURES = 200
VALUE = "'…'"


def fingerprint(
    exception_type: str, message: str, task: str, frames: Iterable[Frame] = ()
) -> tuple[str, str]:
    """Return a key of 16 hex digits and a readable label for a failure.

    `frames` are (file, function) pairs, outermost first, as `frames_of` gives them.
    """
    described = _described if len(message) <= MAX_WORDING else _described.__wrapped__
    return described(exception_type, message, task, project_frame(frames))


@lru_cache(maxsize=KNOWN_FAILURES)
def _described(exception_type: str, message: str, task: str, frame: str) -> tuple[str, str]:
    lines = message.lstrip()[:MAX_MESSAGE].splitlines()
    first = lines[0].strip() if lines else ""
    action = _ACTION.match(first)
    wording = first[action.end() :] if action else first
    selector = _SELECTOR.search(message)
    parts = (
        exception_type.rpartition(".")[2],
        task,
        action.group(1) if action else "",
        _strip_selector(selector.group(1)[:MAX_WORDING]) if selector else "",
        normalise(wording[:MAX_WORDING], exception_type.rpartition(".")[2]),
        frame,
    )
    key = hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:16]
    return key, _label(*parts)


def frames_of(error: BaseException) -> list[Frame]:
    """The (file, function) pairs of an exception's traceback, outermost first."""
    # Not by `traceback`, which reads the source of every frame as well.
    return [
        (frame.f_code.co_filename, frame.f_code.co_name)
        for frame, _ in traceback.walk_tb(error.__traceback__)
    ]


def project_frame(frames: Iterable[Frame]) -> str:
    """Name the innermost frame of a task's code, without its line: edits move lines."""
    own = [frame for frame in frames if not _is_library(frame[0])]
    if not own:
        return ""
    file, function = own[-1]
    return f"{Path(file).name}:{function}"


def normalise(text: str, exception_type: str = "") -> str:
    """Strip from a message what differs between occurrences of the same error."""
    text = _URL.sub("URL", text)
    text = _strip_quoted(text, exception_type)
    text = _UUID.sub("UUID", text)
    text = _DURATION.sub("TIME", text)
    text = _HEX.sub("HEX", text)
    text = _DIGITS.sub("N", text)
    return " ".join(text.split())


def _strip_quoted(text: str, exception_type: str) -> str:
    """Replace quoted values by one mark, and keep selectors and names in code."""
    kept = _KEY_NAME if exception_type == "KeyError" else None
    if _NAMING.search(f"{exception_type}: {text}"):
        kept = _NAME

    def strip(found: re.Match[str]) -> str:
        quoted, before = found["quoted"], found["before"] or ""
        is_name = kept is not None and not before and kept.fullmatch(quoted[1:-1])
        return f"{before}{quoted if is_name else VALUE}"

    stripped, end = "", 0
    for selector in _QUOTED_SELECTOR.finditer(text):
        stripped += _QUOTED.sub(strip, text[end : selector.start()]) + selector.group()
        end = selector.end()
    return stripped + _QUOTED.sub(strip, text[end:])


def _strip_selector(selector: str) -> str:
    selector = selector.rstrip()
    if (end := selector.rfind(_VISIBLE)) >= 0:
        selector = selector[:end].rstrip()
    return _SELECTOR_DIGITS.sub("N", _UUID.sub("UUID", _URL.sub("URL", selector)))


@lru_cache(maxsize=1000)
def _is_library(file: str) -> bool:
    path = Path(file)
    if path.is_relative_to(_PACKAGE):
        # The tasks that come with us are tasks.
        return any(path.is_relative_to(folder) for folder in _MACHINERY)
    if file.startswith("<") or "site-packages" in file or "dist-packages" in file:
        return True
    stdlib = sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")
    return any(path.is_relative_to(folder) for folder in stdlib)


def _label(kind: str, task: str, action: str, selector: str, wording: str, frame: str) -> str:
    what = " ".join(part for part in (action, selector) if part)
    said = f"{what}: {wording}" if what and wording else what or wording
    place = f" at {frame}" if frame else ""
    return f"{task}: {kind}{' ' if said else ''}{said}"[: MAX_LABEL - len(place)] + place
