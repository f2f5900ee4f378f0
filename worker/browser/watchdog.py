"""End what does not end by itself: a thread that fires when a block outlives its limit.

It never raises into another thread and never calls Playwright; it notes where the block
hangs and calls `on_fire`, which kills the browser so that the blocked call raises by itself.
"""

from __future__ import annotations

import sys
import sysconfig
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import FrameType, TracebackType

import greenlet  # type: ignore[import-untyped]
import playwright

# Where the sync API waits, the stack is full of the library's own frames: they tell nothing.
_NOISE = (
    str(Path(playwright.__file__).parent),
    str(Path(greenlet.__file__).parent),
    str(Path(sysconfig.get_path("stdlib"), "asyncio")),
    str(Path(sysconfig.get_path("stdlib"), "selectors.py")),
    __file__,
)

# Killing Chromium frees a blocked call within 1.4 s. If it did not, the driver hangs as well.
PATIENCE_SECONDS = 3.0
IDLE_SECONDS = 3600.0


class Limit:
    """One armed limit; `fired` and `stack` say afterwards whether and where time ran out."""

    def __init__(
        self,
        watchdog: Watchdog,
        seconds: float,
        on_fire: Callable[[], None],
        last_resort: Callable[[], None] | None,
    ) -> None:
        self.seconds = seconds
        self.fired = False
        self.stack = ""
        self.error: BaseException | None = None
        self._watchdog = watchdog
        self._also: Callable[[], None] | None = None
        self.actions = [on_fire] if last_resort is None else [on_fire, last_resort]
        self.due = 0.0
        self._thread = 0
        self._greenlet: greenlet.greenlet | None = None
        self._outermost: FrameType | None = None

    def also(self, action: Callable[[], None]) -> Limit:
        """Do this too when time is over, once `on_fire` has killed; it must not wait."""
        self._also = action
        return self

    def __enter__(self) -> Limit:
        self._thread = threading.get_ident()
        self._greenlet = greenlet.getcurrent()
        # Never in a variable of this frame: it would hold itself, and everybody's below it.
        self._outermost = sys._getframe(1)  # noqa: SLF001
        self.due = time.monotonic() + self.seconds
        self._watchdog.arm(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._watchdog.disarm(self)
        # A frame keeps all its local variables alive, and this one is our own caller's.
        self._greenlet = self._outermost = None

    def fire(self) -> None:
        """Note where the block hangs, and take the next action; the watchdog calls this."""
        actions = [self.actions.pop(0)]
        if not self.fired:
            self.stack = self._describe_stack()
            self.fired = True
            if self._also is not None:
                actions.append(self._also)
        try:
            for action in actions:
                action()
        except Exception as problem:  # noqa: BLE001 - the thread must outlive a failed kill.
            self.error = problem
        self.due = time.monotonic() + PATIENCE_SECONDS

    def _describe_stack(self) -> str:
        # While a Playwright call waits, the thread runs the library's event loop in another
        # greenlet, and the frames of the block belong to a suspended one.
        suspended = self._greenlet.gr_frame if self._greenlet is not None else None
        running = sys._current_frames().get(self._thread)  # noqa: SLF001
        text = _format(suspended or running, self._outermost)
        handler = _format(running, None) if suspended is not None else ""
        return f"{text}While this event handler was running:\n{handler}" if handler else text


class Watchdog:
    """Watch over blocks of one worker process with one thread, started when first needed."""

    def __init__(self) -> None:
        # Taken by itself where nobody is woken: a Condition's own way round it takes twice as long.
        self._lock = threading.Lock()
        self._wakeup = threading.Condition(self._lock)
        self._armed: list[Limit] = []
        self._next_due = 0.0
        self._thread: threading.Thread | None = None

    def limit(
        self,
        seconds: float,
        on_fire: Callable[[], None],
        last_resort: Callable[[], None] | None = None,
    ) -> Limit:
        """Limit a block to `seconds`; limits may nest.

        When they are over, `on_fire` is called; if the block still goes on three seconds later,
        `last_resort` is. Both run in the watchdog's thread and must only kill. Once the block
        is left neither is called any more, nor still running.
        """
        return Limit(self, seconds, on_fire, last_resort)

    def arm(self, limit: Limit) -> None:
        """Start watching a limit; entering its block does this."""
        with self._lock:
            self._armed.append(limit)
            if self._thread is None or not self._thread.is_alive():
                self._next_due = limit.due
                self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)
                self._thread.start()
            elif limit.due < self._next_due:
                self._next_due = limit.due
                self._wakeup.notify()

    def disarm(self, limit: Limit) -> None:
        """Stop watching a limit, after waiting for a kill in progress."""
        with self._lock:
            self._armed.remove(limit)

    def _watch(self) -> None:
        # Firing happens under the lock: whoever leaves a block waits for a kill in progress,
        # so that it cannot hit the browser launched next.
        with self._wakeup:
            while True:
                now = time.monotonic()
                for limit in [each for each in self._armed if each.actions and each.due <= now]:
                    limit.fire()
                # Not before it is time: then a row of short blocks never wakes this thread.
                if now >= self._next_due:
                    waiting = [limit.due for limit in self._armed if limit.actions]
                    self._next_due = min(waiting, default=now + IDLE_SECONDS)
                self._wakeup.wait(max(0.0, self._next_due - time.monotonic()))


def _format(frame: FrameType | None, outermost: FrameType | None) -> str:
    """Render a stack like a traceback, from `outermost` inwards, without library frames."""
    frames: list[tuple[FrameType, int]] = []
    while frame is not None:
        if not frame.f_code.co_filename.startswith(_NOISE):
            frames.append((frame, frame.f_lineno))
        if frame is outermost:
            break
        frame = frame.f_back
    return "".join(traceback.StackSummary.extract(iter(reversed(frames))).format())
