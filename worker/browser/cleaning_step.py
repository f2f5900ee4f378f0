"""One step of cleaning up, which may hang or fail without holding up the next."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Error as PlaywrightError

from worker.browser.watchdog import Limit


def carry_out(limit: Limit, step: Callable[[], object]) -> bool:
    """Do a step within its limit; tell whether it went well (and did not return False)."""
    with limit:
        try:
            result = step()
        except (PlaywrightError, OSError):
            return False
    return result is not False and not limit.fired
