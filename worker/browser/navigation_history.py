"""Make a page forget where it has been, once it has left for the blank page.

A page tells of its new document a moment before the browser's own process has noted it. Whoever
clears the history in that moment keeps the document before, for the next job to go back to.
"""

from __future__ import annotations

import time

from playwright.sync_api import CDPSession
from playwright.sync_api import Error as PlaywrightError

BLANK = "about:blank"
SECONDS = 1.0


def forget(devtools: CDPSession, seconds: float = SECONDS) -> None:
    """Clear it until the blank page alone is left; raises Playwright's Error if more stays."""
    deadline = time.monotonic() + seconds
    while True:
        devtools.send("Page.resetNavigationHistory")
        entries = devtools.send("Page.getNavigationHistory")["entries"]
        if [entry["url"] for entry in entries] == [BLANK]:
            return
        if time.monotonic() > deadline:
            raise PlaywrightError("the page has not left for the blank one")
