"""Keep a minimum interval between the requests of all processes of this machine.

The turn is taken under a file lock and waited for without it, so nobody queues for the lock. Times
are of the monotonic clock, which all processes share until the machine restarts.
"""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

LONGEST_WAIT_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Pace:
    """The turns at one vendor's API; `path` holds the time of the last one given out."""

    path: Path
    interval_seconds: float

    def take_turn(self, longest_wait_seconds: float = LONGEST_WAIT_SECONDS) -> float | None:
        """Wait for the next turn; if it is too far off, take none and give the seconds to it."""
        if self.interval_seconds <= 0 and not self.path.exists():
            return None
        with self._locked() as file:
            now = time.monotonic()
            turn = self._next_turn(file.read(), now)
            if turn - now > min(longest_wait_seconds, LONGEST_WAIT_SECONDS):
                return turn - now
            file.truncate(0)
            file.write(repr(turn))
        time.sleep(max(0.0, turn - time.monotonic()))
        return None

    def rest(self, seconds: float) -> None:
        """Give out no turn for `seconds`, because the vendor has asked for that."""
        with self._locked() as file:
            now = time.monotonic()
            wanted = now + min(seconds, LONGEST_WAIT_SECONDS)
            turn = max(wanted, self._next_turn(file.read(), now))
            file.truncate(0)
            file.write(repr(turn - self.interval_seconds))

    @contextmanager
    def _locked(self) -> Iterator[TextIO]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a+", encoding="ascii") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            yield file

    def _next_turn(self, last: str, now: float) -> float:
        try:
            turn = float(last) + self.interval_seconds
        except ValueError:
            return now
        # No turn is given out so far ahead: it is from before a restart of the machine.
        is_credible = turn - now <= LONGEST_WAIT_SECONDS + self.interval_seconds
        return max(now, turn) if is_credible else now
