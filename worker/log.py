"""Log lines for people: time, who, what, on stderr, with secrets taken out.

A worker's lines carry no colour and no control characters: what a page gives us is untrusted.
"""

from __future__ import annotations

import logging
import sys
import time

from worker.evidence.redaction import redact_text
from worker.evidence.terminal_text import one_line, printable


def configure(name: str, level: int = logging.INFO) -> None:
    """Send this process's log to stderr under that name."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Formatter(name))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    logging.captureWarnings(True)


class _Formatter(logging.Formatter):
    converter = staticmethod(time.gmtime)

    def __init__(self, name: str) -> None:
        super().__init__(f"%(asctime)sZ {name}: %(message)s", datefmt="%H:%M:%S")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - its name is given.
        # A message is one line: a page's text must not look like another. A traceback follows it.
        return one_line(super().formatMessage(record))

    def format(self, record: logging.LogRecord) -> str:
        return redact_text(printable(super().format(record)))
