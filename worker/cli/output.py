"""The one door to the terminal: every command prints through it, and no stranger's text is obeyed.

What cannot be written to stdout is an error. What cannot be told on stderr is lost, and the command
goes on: it was only told.
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any, TextIO

import click

from worker import log
from worker.cli.wording import plain
from worker.errors import OutputLost
from worker.evidence.terminal_text import one_line, printable, visible_json
from worker.installation import as_typed
from worker.log_lines import json_line
from worker.system import standard_streams
from worker.system.standard_streams import STDERR, STDOUT


def tell(line: str, *, err: bool = False) -> None:
    """Print one line, whatever the text holds. Raises OutputLost if stdout does not take it."""
    _write(one_line(as_typed(line)), err=err)


def tell_all(lines: Iterable[str], *, err: bool = False) -> None:
    """Print several lines."""
    for line in lines:
        tell(line, err=err)


def tell_text(text: str, *, err: bool = False) -> None:
    """Print a text that has lines of its own, such as a traceback."""
    _write(printable(as_typed(text)), err=err)


def tell_json(value: Any) -> None:
    """Print a value for programs, in ASCII."""
    _write(as_typed(visible_json(json.dumps(value, default=plain))))


def tell_result(value: Any) -> None:
    """Print what a task has found: JSON for people, which programs can read too."""
    _write(visible_json(json.dumps(value, ensure_ascii=False, indent=2, default=plain)))


def tell_error(text: str) -> None:
    """Print an error; its further lines are indented, lest one of them looks like another line."""
    first, *rest = text.splitlines() or [""]
    tell_all([f"nightshift: {first}", *(f"  {line.strip()}" for line in rest)], err=True)


@contextmanager
def tame_prints(*, aside: bool = False) -> Iterator[None]:
    """Let what others print meanwhile, such as a task that is tried, pass the door too.

    `aside`: to stderr, because stdout is for something else.
    """
    err = _Tame(sys.stderr)
    with redirect_stdout(err if aside else _Tame(sys.stdout)), redirect_stderr(err):
        yield


class _Tame(io.TextIOBase):
    """A stream that shows what it is given and obeys nothing of it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._stream.encoding

    def write(self, text: str) -> int:
        self._stream.write(printable(text))
        return len(text)

    def flush(self) -> None:
        self._stream.flush()

    def fileno(self) -> int:
        return self._stream.fileno()

    def isatty(self) -> bool:
        return self._stream.isatty()

    def writable(self) -> bool:
        return True

    def close(self) -> None:
        """Leave the stream open: it is somebody else's, and may be closed already."""


def ask(question: str) -> bool:
    """Ask a person on the terminal; the answer is no unless they say yes."""
    return click.confirm(one_line(question), err=True)


def is_asking_possible() -> bool:
    """Tell whether there is a person at a terminal to ask."""
    return sys.stdin.isatty()


def is_terminal() -> bool:
    """Tell whether a person reads stdout; a file or a program gets every byte as it is."""
    return sys.stdout.isatty()


def write_exactly(text: str) -> None:
    """Write data to stdout as it is, for programs. Raises OutputLost if stdout does not take it."""
    _write(text, end="")


def _write(text: str, *, err: bool = False, end: str = "\n") -> None:
    stream, fd = (sys.stderr, STDERR) if err else (sys.stdout, STDOUT)
    if err and log.is_json():
        text = json_line(text, level="error", worker=None)
    try:
        # Not click.echo, which takes what looks like a colour out of what goes to a pipe.
        stream.write(text + end)
        stream.flush()
    except BlockingIOError:
        # Another process that shares the pipe made it non-blocking.
        standard_streams.make_blocking()
        stream.flush()
    except OSError as error:
        # What is still buffered would be tried again at the end, and fail with a page of words.
        standard_streams.silence(fd)
        if isinstance(error, BrokenPipeError) and not err:
            # Whoever read our output has seen enough.
            raise
        if not err:
            reason = os.strerror(error.errno) if error.errno else str(error)
            raise OutputLost(f"stdout cannot be written: {reason}") from error
