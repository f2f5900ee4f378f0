"""How long a built-in task waits for what it looks for on a page that is still building itself."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from worker.errors import PayloadError
from worker.tasks.job import Job, patience_of

if TYPE_CHECKING:
    from worker.page_types import Locator

# What has to be there is waited for longer than what may be missing.
WANTED_SECONDS, OPTIONAL_SECONDS = 10.0, 2.0
# Left of the job's time, so that it can still say what it missed.
SPARE_SECONDS = 1.0
POLL_SECONDS = 0.1


class Patience:
    """The patience of one look at a page: all that is looked for waits from its beginning."""

    def __init__(self, job: Job) -> None:
        self._began = time.monotonic()
        self._most = min(patience_of(job), max(0.0, job.seconds_left - SPARE_SECONDS))

    def seconds_for(self, wanted: float) -> float:
        """Say how long to wait from now for what may take `wanted` seconds from the beginning."""
        return max(0.0, self._began + min(wanted, self._most) - time.monotonic())

    def wait_for(self, found: Locator, wanted: float, *, visible: bool = False) -> bool:
        """Wait until something is there, or visible; False if it never was."""
        # Playwright's own error is not imported: only the browser's room knows Playwright.
        deadline = time.monotonic() + self.seconds_for(wanted)
        while not (found.is_visible() if visible else found.count()):
            if (left := deadline - time.monotonic()) <= 0:
                return False
            found.page.wait_for_timeout(1000 * min(left, POLL_SECONDS))
        return True


def checked_timeout(value: object, where: str) -> float:
    """Read a timeout in seconds; raises PayloadError."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= 86400:  # type: ignore[operator]
        raise PayloadError(f"{where}: a timeout is a number of seconds, got {value!r:.40}")
    return float(value)  # type: ignore[arg-type]
