"""Tabs on their way out: told to close at once, waited for when the next one follows.

So a page ends with its job, and the next job does not wait for that.
"""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Error as PlaywrightError

from worker.browser.side_calls import SideCall, SideCalls
from worker.browser.tab import Tab


class ClosingTabs:
    """At most one tab that is closing, so that they never pile up."""

    def __init__(self) -> None:
        self._closing: tuple[SideCalls, SideCall] | None = None

    def begin(self, side_calls: SideCalls, tab: Tab) -> None:
        """Send a tab's page its end; the rest follows beside the next job."""
        steps = tab.closing_steps()
        self._closing = (side_calls, side_calls.start(lambda: _carry_out(steps)))

    def wait(self) -> None:
        """Wait until the last one is closed; the caller limits that."""
        closing, self._closing = self._closing, None
        if closing is not None:
            side_calls, call = closing
            side_calls.wait(call)

    def forget(self) -> None:
        """Think no more of it, because its browser is gone."""
        self._closing = None


def _carry_out(steps: list[Callable[[], object]]) -> None:
    for step in steps:
        try:
            step()
        except PlaywrightError:
            # The next step may still go well: a context closes without its page.
            pass
