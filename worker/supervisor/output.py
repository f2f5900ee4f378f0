"""What children print, line by line, without ever waiting for them.

Workers write to a pipe of their own, so that their lines never tear the live display.
"""

from __future__ import annotations

import os

MAX_LINE = 4000
READ_BYTES = 16384


class LineReader:
    """The reading end of one child's output."""

    def __init__(self, fd: int) -> None:
        os.set_blocking(fd, False)
        self._fd: int | None = fd
        self._rest = b""
        self._is_cut = False

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
            data = os.read(self._fd, READ_BYTES)
        except BlockingIOError:
            return []
        if not data:
            return self.close()
        *lines, rest = (self._rest + data).split(b"\n")
        if lines and self._is_cut:
            # This is the end of a line whose beginning has been shown.
            del lines[0]
            self._is_cut = False
        if self._is_cut:
            rest = b""
        elif len(rest) > MAX_LINE:
            lines.append(rest)
            rest, self._is_cut = b"", True
        self._rest = rest
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
