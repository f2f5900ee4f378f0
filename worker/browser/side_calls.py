"""Calls into Playwright that go on beside the job's own, whenever one of those waits.

Playwright runs each event handler in a greenlet of its own, where calls are allowed; what is begun
here is run in the same way. A side call raises nothing into the job and has no limit of its own:
whoever waits for it sets one.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable

import greenlet  # type: ignore[import-untyped]
from playwright.sync_api import Error as PlaywrightError

# A killed driver is noticed within milliseconds; what follows from that within some turns.
END_SECONDS, END_TURNS = 1.0, 20


class SideCall:
    """One thing that is being done beside the job; `error` says what it failed of."""

    def __init__(self, work: Callable[[], object]) -> None:
        self.is_done = False
        self.error: BaseException | None = None
        self._work = work
        self._when_done: list[Callable[[], object]] = []

    def begin(self) -> None:
        """Work until the first wait; the driver's event loop calls this, and goes on then."""
        if not self.is_done:
            greenlet.greenlet(self._run).switch()

    def give_up(self) -> None:
        """Take it for done, because nothing will carry it on."""
        self.is_done = True

    def when_done(self, tell: Callable[[], object]) -> None:
        """Call this at the end."""
        self._when_done.append(tell)

    def _run(self) -> None:
        try:
            self._work()
        except BaseException as problem:  # noqa: BLE001 - kept for whoever asks; nobody is above.
            self.error = problem
        self.is_done = True
        for tell in self._when_done:
            tell()


class SideCalls:
    """What one driver does beside the job; made when the driver has been started."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._fiber: greenlet.greenlet | None = None
        self._loop.call_soon(self._note_fiber)

    def plan(self, work: Callable[[], object]) -> SideCall:
        """Begin something with the next call that waits; returns at once."""
        call = SideCall(work)
        if self._is_over:
            call.give_up()
        else:
            self._loop.call_soon(call.begin)
        return call

    def start(self, work: Callable[[], object]) -> SideCall:
        """Begin something now: its first message is on its way when this returns."""
        call = self.plan(work)
        if not call.is_done:
            # The loop's first turn begins it, the second sends what it asks for.
            self._run_loop_until(self._loop.call_soon)
        return call

    def hear(self, seconds: float = 0.001) -> None:
        """Take in what the driver has said, and what follows from that when the loop is idle."""
        if not self._is_over:
            self._run_loop_until(lambda resume: self._loop.call_later(seconds, resume))

    def let_end(self, seconds: float = END_SECONDS) -> None:
        """Let all come to its end that a killed driver has left, so that none is told of later."""
        deadline = time.monotonic() + seconds
        while not self._is_over and time.monotonic() < deadline:
            self.hear()
        if self._is_over and not (self._loop.is_closed() or self._loop.is_running()):
            for _ in range(END_TURNS):
                self._loop.run_until_complete(asyncio.sleep(0))

    def later(self, seconds: float, tell: Callable[[], object]) -> asyncio.TimerHandle | None:
        """Call this with the first call that waits when the time is over; it must not wait."""
        return None if self._is_over else self._loop.call_later(seconds, tell)

    def wait(self, call: SideCall, seconds: float | None = None) -> None:
        """Wait until it is done, or until the driver is gone, or no longer than this."""
        deadline = math.inf if seconds is None else time.monotonic() + seconds

        def arrange(resume: Callable[[], object]) -> None:
            call.when_done(resume)
            if seconds is not None:
                self._loop.call_later(seconds, resume)

        while not call.is_done and time.monotonic() < deadline:
            if self._is_over or self._fiber is None:
                call.give_up()
            else:
                self._run_loop_until(arrange)

    def do(self, work: Callable[[], object], seconds: float | None = None) -> bool:
        """Do something and wait for it; False when it has not come to its end within that time.

        Raises what it failed of, or Playwright's Error when the driver is gone.
        """
        call = self.plan(work)
        self.wait(call, seconds)
        if self._is_over:
            raise PlaywrightError("Connection closed: the driver has ended")
        if call.error is not None:
            raise call.error
        return call.is_done

    def together(self, *works: Callable[[], object]) -> None:
        """Do several things at once and wait for all of them; raises what one of them failed of."""
        calls = [self.plan(work) for work in works]
        for call in calls:
            self.wait(call)
        for call in calls:
            if call.error is not None:
                raise call.error

    @property
    def _is_over(self) -> bool:
        is_fiber_dead = self._fiber is not None and self._fiber.dead
        return is_fiber_dead or self._loop.is_closed()

    def _note_fiber(self) -> None:
        self._fiber = greenlet.getcurrent()

    def _run_loop_until(self, arrange: Callable[[Callable[[], object]], object]) -> None:
        """Let the loop run, until a turn after it calls what `arrange` is given."""
        if self._fiber is None:
            return
        here, is_waiting = greenlet.getcurrent(), True

        def resume() -> None:
            if is_waiting:
                here.switch()

        try:
            arrange(lambda: self._loop.call_soon(resume))
            self._fiber.switch()
        finally:
            # One that is left behind must not resume this place at some later time.
            is_waiting = False
