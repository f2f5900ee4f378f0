"""What children print, line by line, without ever waiting for them.

Workers write to a pipe of their own, so that their lines never tear the live display.
"""

from __future__ import annotations

import os

MAX_LINE = 4000


class LineReader:
    """The reading end of one child's output."""

    def __init__(self, fd: int) -> None:
        os.set_blocking(fd, False)
        self._fd: int | None = fd
        self._rest = b""

    def fileno(self) -> int:
        """The descriptor to wait on; -1 once closed."""
        return -1 if self._fd is None else self._fd

    @property
    def is_open(self) -> bool:
        return self._fd is not None

    def read(self) -> list[str]:
        """Return the whole lines that have come; an over-long one is cut."""
        if self._fd is None:
            return []
        try:
            data = os.read(self._fd, 65536)
        except BlockingIOError:
            return []
        if not data:
            return self.close()
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > MAX_LINE:
            lines.append(self._rest)
            self._rest = b""
        return [_text(line) for line in lines]

    def close(self) -> list[str]:
        """Close the pipe; return what was left of an unfinished line."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
        rest, self._rest = self._rest, b""
        return [_text(rest)] if rest else []


def _text(line: bytes) -> str:
    return line[:MAX_LINE].decode("utf-8", "replace")
