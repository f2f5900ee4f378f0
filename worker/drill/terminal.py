"""A terminal of the drill's own, on which a launcher can be started and which can be closed."""

from __future__ import annotations

import os
import pty
import select
import threading
from typing import IO

LOOK_SECONDS = 0.2
READ_BYTES = 65536


class Terminal:
    """A pseudo-terminal; what is shown on it goes to a log, until it is closed."""

    def __init__(self, log: IO[bytes]) -> None:
        self._log = log
        self._master, self.slave = pty.openpty()
        self._is_closed = threading.Event()
        self._thread = threading.Thread(target=self._copy, name="terminal", daemon=True)
        self._thread.start()

    def hand_over(self) -> None:
        """Give up our own hold on the side that the launcher has now."""
        os.close(self.slave)

    def close(self) -> None:
        """Hang up: whoever still shows something here gets EIO, and its leader SIGHUP."""
        self._is_closed.set()
        self._thread.join()

    def _copy(self) -> None:
        try:
            while not self._is_closed.is_set():
                if not select.select([self._master], [], [], LOOK_SECONDS)[0]:
                    continue
                try:
                    shown = os.read(self._master, READ_BYTES)
                except OSError:
                    # The last process on it has ended.
                    return
                self._log.write(shown)
                self._log.flush()
        finally:
            os.close(self._master)
