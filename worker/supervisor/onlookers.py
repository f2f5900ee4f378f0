"""Whether somebody looks at the workers' pages: read off the wall's folder, shown on the board.

The launcher's loop asks; that is one call to the kernel twice a second. When nobody looks any more,
the pictures are removed.
"""

from __future__ import annotations

import time
from pathlib import Path

from worker.system import live_wall
from worker.system.board import Header

LOOK_SECONDS = 0.5
# Longer than between two looks: a launcher that was stopped lets the wish lapse.
SHOWN_SECONDS = 3.0
# A worker may be about to keep a picture when the word comes that nobody looks.
TIDY_SECONDS = 5.0


class Onlookers:
    """The eye of one run on the wall's folder; `folder` is None where no pictures are to be had."""

    def __init__(self, folder: Path | None, header: Header) -> None:
        self._folder = folder
        self._header = header
        self._next_at = 0.0
        self._tidy_until = time.monotonic() + TIDY_SECONDS

    def look(self) -> None:
        """Show on the board whether somebody looks; remove the pictures when nobody does."""
        now = time.monotonic()
        if self._folder is None or now < self._next_at:
            return
        self._next_at = now + LOOK_SECONDS
        if live_wall.is_asked(self._folder):
            self._header.watched_until = now + SHOWN_SECONDS
            self._tidy_until = now + SHOWN_SECONDS + TIDY_SECONDS
            return
        self._header.watched_until = 0.0
        if now < self._tidy_until:
            live_wall.remove_all(self._folder)

    def forget(self, incarnation: int) -> None:
        """Remove the picture of a worker that has ended."""
        if self._folder is not None:
            live_wall.remove(self._folder, incarnation)

    def close(self) -> None:
        """Leave no picture behind, unless another run's are being looked at."""
        if self._folder is not None and not live_wall.is_asked(self._folder):
            live_wall.remove_all(self._folder)
