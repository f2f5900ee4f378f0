"""Wait for a vendor within a deadline, and stop waiting when another thread says so."""

from __future__ import annotations

import threading
import time


class Patience:
    """The waits of one opening or stopping; `give_up` ends all of them at once."""

    def __init__(self) -> None:
        self._given_up = threading.Event()

    def begin(self) -> None:
        """Wait again from now on."""
        self._given_up.clear()

    def give_up(self) -> None:
        """End the waits; from any thread, or a signal's handler."""
        self._given_up.set()

    @property
    def is_over(self) -> bool:
        """Whether somebody has given up."""
        return self._given_up.is_set()

    def pause(self, seconds: float, deadline: float) -> bool:
        """Wait, and tell whether to go on; False at once when it would take too long."""
        if time.monotonic() + seconds > deadline:
            return False
        return not self._given_up.wait(seconds)
