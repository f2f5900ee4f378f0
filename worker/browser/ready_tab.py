"""Whether a tab answers before a job gets it: one whose renderer was killed never does.

Nobody hears of a crash between two jobs, since events come while a call waits.
"""

from __future__ import annotations

import time

from worker.browser import blank_page
from worker.browser.engine import Engine
from worker.browser.tab import Tab

# Where pages follow each other, their own calls hear of everything.
RESTED_SECONDS = 0.1
# A page that is well answers at once, also where the machine is busy.
READY_SECONDS = 3.0


class ReadyTab:
    """Prepares the tabs of one worker for their jobs."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._left_at = 0.0

    def note_end(self) -> None:
        """Take note that a job has left its tab."""
        self._left_at = time.monotonic()

    def hear_of_crashes(self) -> None:
        """Hear what the browser has said since the last job."""
        has_rested = time.monotonic() - self._left_at > RESTED_SECONDS
        if has_rested and (side_calls := self._engine.side_calls) is not None:
            side_calls.hear()

    def prepare(self, tab: Tab, *, is_reused: bool, seconds: float | None = READY_SECONDS) -> bool:
        """Let a page forget what another job left; False when it does not answer in that time."""
        has_clipboard = self._engine.has_own_clipboard
        if not (has_clipboard or is_reused):
            return True
        assert self._engine.side_calls is not None

        def make_ready() -> None:
            blank_page.make_ready(
                tab.devtools, has_own_clipboard=has_clipboard, has_served=is_reused
            )

        return self._engine.side_calls.do(make_ready, seconds)
