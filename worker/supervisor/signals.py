"""Hold signals until the loop is ready for them.

Handlers only enqueue: one that logs may interrupt code that holds the logging lock. The wakeup
pipe lets a waiting `select` return at once.
"""

from __future__ import annotations

import os
import signal
from collections import deque
from types import FrameType

from worker.system.fork import HANDLED


class SignalQueue:
    """The signals that have come and were not yet taken, oldest first."""

    def __init__(self) -> None:
        self._queue: deque[signal.Signals] = deque()
        self._reader, writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        for number in HANDLED:
            # `nohup` ignores SIGHUP for us: the run is to outlive its terminal.
            if number is signal.SIGHUP and signal.getsignal(number) is signal.SIG_IGN:
                continue
            signal.signal(number, self._enqueue)

    def fileno(self) -> int:
        """Readable when a signal has come."""
        return self._reader

    def take(self) -> list[signal.Signals]:
        """Return what has come since the last call."""
        try:
            while os.read(self._reader, 4096):
                pass
        except BlockingIOError:
            pass
        taken = []
        while self._queue:
            taken.append(self._queue.popleft())
        return taken

    def _enqueue(self, number: int, _frame: FrameType | None) -> None:
        self._queue.append(signal.Signals(number))
