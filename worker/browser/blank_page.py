"""What a blank page is told before it is a job's: in one message, since each has its price.

The clipboard, which all pages of a headless browser share, is emptied: the page "copies" nothing at
all, as if a person had pressed the keys, which replaces whatever was there, in every format. And a
page that has served a job loses its window's name, which no new document takes away.
"""

from __future__ import annotations

from playwright.sync_api import CDPSession

# Evaluated by a blank page as a person's gesture, this leaves the clipboard empty.
COPY_NOTHING = """(() => {
    const empty = event => { event.preventDefault(); event.clipboardData.setData('text/plain', '') }
    addEventListener('copy', empty)
    document.execCommand('copy')
    removeEventListener('copy', empty)
})();"""
FORGET_NAME = "window.name = '';"


def make_ready(devtools: CDPSession, *, has_own_clipboard: bool, has_served: bool) -> None:
    """Let it forget what another job may have left; raises Playwright's Error."""
    script = COPY_NOTHING * has_own_clipboard + FORGET_NAME * has_served
    if script:
        devtools.send("Runtime.evaluate", {"expression": script, "userGesture": True})
