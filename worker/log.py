"""Log lines for people: time, who, what, on stderr, with secrets taken out.

A worker's lines carry no colour and no control characters: what a page gives us is untrusted.
"""

from __future__ import annotations

import logging
import re
import sys
import time

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# user:password@ in any URL, and password-like query parameters and assignments.
_USERINFO = re.compile(r"(?<=://)(?!user:password@)[^/\s:@]+(?::\S*)?@")
_SECRET = re.compile(
    r"(?i)\b((?:[\w-]*(?:passw(?:or)?d|secret|token|api[_-]?key|signature))[\"']?\s*[=:]\s*)"
    r"(?:\"[^\"]*\"?|'[^']*'?|[^\s\"'&,;}]+)"
)


def configure(name: str, level: int = logging.INFO) -> None:
    """Send this process's log to stderr under that name."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Formatter(name))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    logging.captureWarnings(True)


def redact(text: str) -> str:
    """Take credentials out of a text."""
    return _SECRET.sub(r"\1***", _USERINFO.sub("***@", text))


def printable(text: str) -> str:
    """Take out what could steer a terminal."""
    return _CONTROL.sub("?", text)


class _Formatter(logging.Formatter):
    converter = staticmethod(time.gmtime)

    def __init__(self, name: str) -> None:
        super().__init__(f"%(asctime)sZ {name}: %(message)s", datefmt="%H:%M:%S")

    def format(self, record: logging.LogRecord) -> str:
        return redact(printable(super().format(record)))
