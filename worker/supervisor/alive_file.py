"""A file that the launcher touches as long as its loop turns, for a container's health check.

Its age says whether the pool hangs. Runs that share a state folder share it; nobody removes it.
"""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

NAME = "alive"
TOUCH_SECONDS = 10.0


class AliveFile:
    """The file of one state folder; what cannot be written is left to the next turn."""

    def __init__(self, state_dir: Path) -> None:
        self._path = state_dir / NAME
        self._next = 0.0

    def touch(self) -> None:
        """Say that the loop has turned, if it is time."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + TOUCH_SECONDS
            with suppress(OSError):
                self._path.touch()
