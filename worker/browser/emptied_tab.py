"""The page that is being emptied while the next job has another one (`isolation="page"`).

There is one at most. It is told to leave its document before the next job begins, so its scripts
end with its job; the rest goes on whenever that job waits for its own page.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from worker.browser.side_calls import SideCall, SideCalls

T = TypeVar("T")


class EmptiedTab(Generic[T]):
    """At most one tab that is being made fit for another job."""

    def __init__(self) -> None:
        self._under_way: tuple[SideCalls, SideCall, T] | None = None
        self._is_fit = False

    def begin(self, side_calls: SideCalls, tab: T, tidy: Callable[[], bool]) -> None:
        """Begin with a tab: its document is on its way out when this returns."""
        self._is_fit = False

        def work() -> None:
            self._is_fit = tidy()

        self._under_way = (side_calls, side_calls.start(work), tab)

    @property
    def is_done(self) -> bool:
        """Whether there is one that nobody would have to wait for."""
        return self._under_way is not None and self._under_way[1].is_done

    def wait(self) -> None:
        """Wait until it is emptied, or cannot be; the caller limits that."""
        if self._under_way is not None:
            side_calls, call, _ = self._under_way
            side_calls.wait(call)

    def take(self) -> tuple[T, bool] | None:
        """Hand out the tab that was waited for, and whether it may serve another job."""
        under_way, self._under_way = self._under_way, None
        return None if under_way is None else (under_way[2], self._is_fit)

    def forget(self) -> None:
        """Think no more of it, because its browser is gone."""
        self._under_way = None
