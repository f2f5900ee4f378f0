"""Steps of cleaning up, each of which may hang or fail without holding up the next."""

from __future__ import annotations

import time
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


def within_budget(
    seconds: float, longest_seconds: float, limit: Callable[[float], Limit]
) -> Callable[[Callable[[], object]], bool]:
    """Give several steps one budget, from now on: each gets what is left, up to the longest."""
    deadline = time.monotonic() + seconds

    def within(step: Callable[[], object]) -> bool:
        left = max(0.1, min(longest_seconds, deadline - time.monotonic()))
        return carry_out(limit(left), step)

    return within
