"""The launcher's stop request to a worker: the first SIGTERM lets it finish, the second does not.

SIGUSR1 says that the claim on its job was taken from it, and the job's task is to end alone. The
handlers only set flags and kill the browser, which makes a blocked Playwright call raise.
"""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable
from types import FrameType


class StopRequest:
    """Whether this worker should stop, and how soon."""

    def __init__(self) -> None:
        self.is_stopping = False
        self.is_abandoning = False
        self.on_abandon: Callable[[], None] = lambda: None
        self.on_withdrawal: Callable[[], None] = lambda: None
        self._reader, self._writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)

    def listen(self) -> None:
        """Take SIGTERM and SIGUSR1 from now on."""
        signal.signal(signal.SIGTERM, self._take)
        signal.signal(signal.SIGUSR1, lambda *_: self.on_withdrawal())

    def wait(self, seconds: float) -> None:
        """Sleep, but not past the moment the word comes."""
        select.select([self._reader], [], [], seconds)

    def _take(self, _number: int, _frame: FrameType | None) -> None:
        if self.is_stopping:
            self.is_abandoning = True
            self.on_abandon()
        self.is_stopping = True
        try:
            os.write(self._writer, b".")
        except BlockingIOError:
            pass
