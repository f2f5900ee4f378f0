"""Decide how the picture of a failed page is taken: its size, its patience.

What can be seen comes first. The whole page is taken in its place only where that is cheap. Format
and file name are in `evidence/pictures.py`. The built-in task `screenshot` is another thing: it
takes the picture that a job asked for.
"""

from __future__ import annotations

from playwright.sync_api import FloatRect, Page

from worker.evidence.pictures import FAILURE

TIMEOUT_MS = 5000
# 1920 x 20,000 px take 2.4 s, 5,000 x 20,000 px more than 5 s (measured).
AREA: FloatRect = {"x": 0, "y": 0, "width": 1920, "height": 20_000}
# The browser lays out and paints all of it, however little is cut out: 5.5 million px of text
# keep it from answering for half a minute, 200,000 px take 1.4 s (measured on a busy machine).
HIGHEST = 200_000

_SIZES = """() => {
    const {scrollWidth, scrollHeight} = document.documentElement;
    return [scrollWidth, scrollHeight, innerWidth, innerHeight];
}"""


class TooDear(Exception):
    """A picture that would take too long."""


def take_visible(page: Page) -> bytes:
    """Take what can be seen of the page; raises Playwright's Error when there is no picture."""
    return page.screenshot(type=FAILURE.format, timeout=TIMEOUT_MS, animations="disabled")


def is_whole(page: Page) -> bool:
    """Tell whether what can be seen is all there is; raises TooDear where the rest is too large."""
    width, height, seen_width, seen_height = page.evaluate(_SIZES)
    if height > HIGHEST:
        raise TooDear(f"the page is {height:,.0f} px high")
    return bool(width <= seen_width and height <= seen_height)


def take_whole(page: Page) -> bytes:
    """Take the whole page up to a bound; raises Playwright's Error when there is no picture."""
    return page.screenshot(
        type=FAILURE.format, timeout=TIMEOUT_MS, animations="disabled", full_page=True, clip=AREA
    )
