"""A terminal for tests: its near side is a launcher's, its far side tells what has been drawn."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import termios

# Wide enough for the longest line, so that only what is broken by mistake is broken.
ROWS, COLUMNS = 30, 600


class Terminal:
    """The far side of a terminal: what has been drawn on it."""

    def __init__(self) -> None:
        self._near, self.far = pty.openpty()
        fcntl.ioctl(self.far, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        os.set_blocking(self._near, False)
        self._drawn = b""

    @property
    def modes(self) -> list[object]:
        return termios.tcgetattr(self.far)

    @property
    def drawn(self) -> str:
        try:
            while data := os.read(self._near, 65536):
                self._drawn += data
        except OSError:
            pass
        return self._drawn.decode("utf-8", "replace")

    def hang_up(self) -> None:
        """Close the window."""
        os.close(self.far)
        os.close(self._near)
        self._near = self.far = -1

    def close(self) -> None:
        if self.far != -1:
            self.hang_up()
