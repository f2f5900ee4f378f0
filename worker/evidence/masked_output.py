"""What a task prints, with the job's secrets masked before it leaves the process.

The launcher, which shows it, does not know them. Lines are passed on whole, so that a secret which
is printed piece by piece is masked too. What a task's own child processes print is not seen here.
"""

from __future__ import annotations

import io
import sys
from typing import Any, TextIO

from worker.evidence import known_secrets

# A line without an end is passed on from here on.
MAX_LINE = 100_000

# Kept from task to task, as long as the stream behind is the same.
_kept: dict[str, _Masked] = {}


class masked_output:  # noqa: N801 - used as a function is.
    """Mask what is printed within the block."""

    __slots__ = ("_err", "_masked_err", "_masked_out", "_out")

    def __enter__(self) -> None:
        self._out, self._err = sys.stdout, sys.stderr
        sys.stdout = self._masked_out = _masked("stdout", self._out)
        sys.stderr = self._masked_err = _masked("stderr", self._err)

    def __exit__(self, *_: object) -> None:
        for masked in (self._masked_out, self._masked_err):
            if masked is not None:
                masked.let_go()
        # A task may have put something else there; that is its own affair.
        if sys.stdout is self._masked_out:
            sys.stdout = self._out
        if sys.stderr is self._masked_err:
            sys.stderr = self._err


class _Masked(io.TextIOBase):
    """A stream before another one: it masks line by line."""

    def __init__(self, inner: TextIO) -> None:
        self.inner = inner
        self._line = ""

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        lines, end, self._line = (self._line + text).rpartition("\n")
        if len(self._line) > MAX_LINE:
            lines, end, self._line = lines + end + self._line, "", ""
        if lines or end:
            self._pass_on(known_secrets.mask(lines) + end)
        return len(text)

    def _pass_on(self, text: str) -> None:
        try:
            self.inner.write(text)
        except UnicodeEncodeError:
            # Half a character, as pages hold them: no reason for the job to fail.
            encoding = self.inner.encoding or "utf-8"
            self.inner.write(text.encode(encoding, "backslashreplace").decode(encoding))

    def let_go(self) -> None:
        """Pass on what has no line end yet; never raises."""
        line, self._line = self._line, ""
        try:
            if line:
                self._pass_on(known_secrets.mask(line))
        except (OSError, ValueError):
            # The task has closed it.
            pass

    def flush(self) -> None:
        if not self.inner.closed:
            self.inner.flush()

    def close(self) -> None:
        self.let_go()
        self.inner.close()

    def __del__(self) -> None:
        # The stream behind it lives on; only a task that says so closes that.
        pass

    def fileno(self) -> int:
        return self.inner.fileno()

    def isatty(self) -> bool:
        return self.inner.isatty()

    def writable(self) -> bool:
        return True

    @property
    def closed(self) -> bool:
        return self.inner.closed

    @property
    def buffer(self) -> io.BufferedIOBase:
        return self.inner.buffer  # type: ignore[return-value]

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self.inner.encoding


def _masked(name: str, inner: Any) -> Any:
    """Give the masked stream before another one; None is what a process without that stream has."""
    masked = _kept.get(name)
    if inner is not None and (masked is None or masked.inner is not inner):
        masked = _kept[name] = _Masked(inner)
    return masked if inner is not None else None
