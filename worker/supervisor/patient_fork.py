"""Fork with patience: a machine that cannot start a process now may do so later.

A lack of processes or memory (EAGAIN, ENOMEM) is logged once; the caller tries again.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from worker.backoff import backoff_seconds
from worker.system.fork import fork

FIRST_WAIT_SECONDS = 0.5
MAX_WAIT_SECONDS = 15.0


class PatientFork:
    """Forks for workers, heart and courier, which share the machine's good and bad times."""

    def __init__(self, say: Callable[[str], None] = lambda text: None) -> None:
        self._say = say
        self._failures = 0
        self._try_at = 0.0

    def __call__(self, main: Callable[[], int], output: int) -> int | None:
        """Run `main` in a child and return its pid; None when there can be no child now."""
        if time.monotonic() < self._try_at:
            return None
        try:
            pid = fork(main, output=output)
        except OSError as error:
            self._failures += 1
            wait = backoff_seconds(self._failures, FIRST_WAIT_SECONDS, MAX_WAIT_SECONDS)
            self._try_at = time.monotonic() + wait
            if self._failures == 1:
                self._say(f"cannot start a process ({error.strerror}); trying again until I can")
            return None
        if self._failures:
            self._failures = 0
            self._say("processes can be started again")
        return pid
