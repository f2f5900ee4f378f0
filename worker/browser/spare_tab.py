"""The next job's tab, made while the current job waits for its site.

There is one at most. It is of the browser that runs now and of the options that the next job
wants, or it is not handed out; nothing of a job has been in it. If it cannot be made, that harms
no job: the next one's tab is made when it is wanted.
"""

from __future__ import annotations

from collections.abc import Callable

from worker.browser.context_options import ContextOptions
from worker.browser.side_calls import SideCall, SideCalls
from worker.browser.tab import Tab

# Where a page's renderer is killed while it is made, the browser never answers.
MAKING_SECONDS = 3.0


class SpareTab:
    """At most one tab in reserve, or in the making."""

    def __init__(
        self, make: Callable[[ContextOptions], Tab], discard: Callable[[Tab], object]
    ) -> None:
        self._make = make
        self._discard = discard
        self._ready: tuple[ContextOptions, Tab] | None = None
        self._making: tuple[SideCalls, SideCall] | None = None

    def plan(self, side_calls: SideCalls, options: ContextOptions) -> None:
        """Let one be made beside the job, unless there is one; returns at once."""
        if self._ready is None and self._making is None:
            call = side_calls.plan(lambda: self._fill(call, options))
            self._making = (side_calls, call)

    def take(self, options: ContextOptions) -> Tab | None:
        """Hand out a tab with these options, if there is one; the caller limits the wait."""
        if self._making is not None:
            side_calls, call = self._making
            side_calls.wait(call, MAKING_SECONDS)
            self._making = None
        ready, self._ready = self._ready, None
        if ready is None:
            return None
        made_with, tab = ready
        if made_with == options and tab.is_usable:
            return tab
        self._discard(tab)
        return None

    def drop(self) -> None:
        """Close the one that is there, or will be: it is not wanted any more."""
        ready, self._ready, self._making = self._ready, None, None
        if ready is not None:
            self._discard(ready[1])

    def forget(self) -> None:
        """Think no more of it, because its browser is gone."""
        self._ready = self._making = None

    def _fill(self, call: SideCall, options: ContextOptions) -> None:
        tab = self._make(options)
        if self._making is not None and self._making[1] is call:
            self._ready, self._making = (options, tab), None
        else:
            # Nobody has waited for it: what was wanted has changed meanwhile.
            for step in tab.closing_steps():
                step()
