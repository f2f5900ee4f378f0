"""Get an answer out of a page that hangs, so that its evidence does not cost the browser.

A navigation without an answer and a script that never ends both block every question to the page,
and most of Playwright's questions have no time limit. The caller limits the whole of it.
"""

from __future__ import annotations

from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Page

from worker.browser.tab import Tab

PROBE_MS = 1000
MUTE = "the page does not answer"


def why_mute(tab: Tab, page: Page) -> str | None:
    """Stop what blocks a tab's page; return why it still cannot be asked, or None.

    Any other page, in a context of the task's own, is asked and left as it is.
    """
    if page is not tab.page:
        return None if _answers(page) else MUTE
    tab.stop_loading()
    if not _answers(page):
        tab.stop_scripts()
        if not _answers(page):
            return MUTE
    # A screenshot of a page that has received nothing yet would never come.
    has_document = page.evaluate("() => document.documentElement !== null")
    return None if has_document else "the page is still empty"


def _answers(page: Page) -> bool:
    try:
        page.wait_for_function("() => true", polling=50, timeout=PROBE_MS).dispose()
    except PlaywrightError:
        return False
    return True
