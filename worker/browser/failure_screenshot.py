"""Decide how the picture of a failed page is taken: its format, its size, its patience.

The built-in task `screenshot` is another thing: it takes the picture that a job asked for.
"""

from __future__ import annotations

from playwright.sync_api import FloatRect, Page

FILE_NAME = "screenshot.png"
TIMEOUT_MS = 5000
# 1920 x 20,000 px take 2.4 s, 5,000 x 20,000 px more than 5 s (measured).
AREA: FloatRect = {"x": 0, "y": 0, "width": 1920, "height": 20_000}


def take(page: Page) -> bytes:
    """Take the whole page up to a bound; raises Playwright's Error when there is no picture."""
    return page.screenshot(
        type="png", timeout=TIMEOUT_MS, animations="disabled", full_page=True, clip=AREA
    )
