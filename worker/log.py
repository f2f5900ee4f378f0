"""Log lines for people: time, who, what, on stderr, with secrets taken out.

A worker's lines carry no colour and no control characters: what a page gives us is untrusted.
"""

from __future__ import annotations

import logging
import sys
import time
from typing import TextIO

from worker.evidence.redaction import redact_text
from worker.evidence.terminal_text import one_line, printable
from worker.installation import as_typed
from worker.log_lines import json_line
from worker.system.standard_streams import STDERR

# Tracebacks are longer than other lines; a page's whole text is longer still.
MAX_LINE = 20_000
# What is shown of a message: the evidence of a failure has all of it.
MAX_SHOWN = 1000
# Libraries that would tell every request of ours: whoever asked says what came of it.
CHATTY = ("httpx", "httpcore")


_is_json = False
_job: int | None = None


def write_json() -> None:
    """Let this process and all that it forks log JSON from now on."""
    global _is_json  # noqa: PLW0603 - a process logs in one way.
    _is_json = True


def is_json() -> bool:
    """Tell whether this process logs JSON."""
    return _is_json


def at_work_on(job_id: int | None) -> None:
    """Name the job that this process is doing in its JSON lines."""
    global _job  # noqa: PLW0603 - a worker does one job at a time.
    _job = job_id


def configure(name: str, level: int = logging.INFO) -> None:
    """Send this process's log to stderr under that name."""
    handler = _StderrHandler()
    handler.setFormatter(_JsonFormatter(name) if _is_json else _Formatter(name))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for chatty in CHATTY:
        logging.getLogger(chatty).setLevel(max(level, logging.WARNING))
    logging.captureWarnings(True)


class _StderrHandler(logging.StreamHandler[TextIO]):
    """Writes to stderr as it is now: a task may have closed the one that was there."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)

    @property
    def stream(self) -> TextIO:  # type: ignore[override]
        if sys.stderr.closed:
            sys.stderr = open(STDERR, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        return sys.stderr


class _Formatter(logging.Formatter):
    converter = staticmethod(time.gmtime)

    def __init__(self, name: str) -> None:
        super().__init__(f"%(asctime)sZ {name}: %(message)s", datefmt="%H:%M:%S")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - its name is given.
        # A message is one line: a page's text must not look like another. A traceback follows it.
        return one_line(super().formatMessage(record))

    def format(self, record: logging.LogRecord) -> str:
        return _told(super().format(record))


class _JsonFormatter(logging.Formatter):
    def __init__(self, name: str) -> None:
        super().__init__("%(message)s")
        self._name = name

    def format(self, record: logging.LogRecord) -> str:
        message = _told(super().format(record))
        level = record.levelname.lower()
        return json_line(message, level=level, worker=self._name, job=_job)


def _told(text: str) -> str:
    """Write a message for people: its first line is cut, and a traceback follows as it is."""
    line, end, rest = as_typed(redact_text(printable(_cut(text)))).partition("\n")
    # After the masking, which might not know half a secret.
    line = line if len(line) <= MAX_SHOWN else f"{line[: MAX_SHOWN - 1]}…"
    return f"{line}{end}{rest}"


def _cut(text: str) -> str:
    """Keep both ends of a line that nobody reads to its end, before anything searches it."""
    if len(text) <= MAX_LINE:
        return text
    half = MAX_LINE // 2
    return f"{text[:half]} [… {len(text) - MAX_LINE} characters cut …] {text[-half:]}"
