"""Get an answer out of a page that hangs, so that its evidence does not cost the browser.

A navigation without an answer and a script that never ends both block every question to the page,
and most of Playwright's questions have no time limit. The caller limits the whole of it.
"""

from __future__ import annotations

from playwright.sync_api import Error as PlaywrightError

from worker.browser.tab import Tab

PROBE_MS = 1000


def why_mute(tab: Tab) -> str | None:
    """Stop what blocks the page; return why it still cannot be asked, or None."""
    tab.stop_loading()
    if not _answers(tab):
        tab.stop_scripts()
        if not _answers(tab):
            return "the page does not answer"
    # A screenshot of a page that has received nothing yet would never come.
    has_document = tab.page.evaluate("() => document.documentElement !== null")
    return None if has_document else "the page is still empty"


def _answers(tab: Tab) -> bool:
    try:
        tab.page.wait_for_function("() => true", polling=50, timeout=PROBE_MS).dispose()
    except PlaywrightError:
        return False
    return True
