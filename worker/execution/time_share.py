"""How much of a worker's time something may take that no job needs: a share of it, never more.

It is paid for afterwards: the first time comes at once, the next when the share has grown over what
was spent.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class TimeShare:
    """The account of one worker: what it has spent, since when."""

    def __init__(self, share: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._share = share
        self._clock = clock
        self._began = clock()
        self.spent_seconds = 0.0

    @property
    def is_left(self) -> bool:
        """Whether all that was spent is within the share."""
        return self.spent_seconds <= self._share * (self._clock() - self._began)

    @contextmanager
    def spending(self) -> Iterator[None]:
        """Count the time that the block takes, however it ends."""
        began = self._clock()
        try:
            yield
        finally:
            self.spent_seconds += self._clock() - began
