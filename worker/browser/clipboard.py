"""The clipboard, which all pages of a headless browser share: emptied before each job.

A blank page "copies" nothing at all, as if a person had pressed the keys: that replaces whatever
was there, in every format. It takes about a millisecond.
"""

from __future__ import annotations

from playwright.sync_api import CDPSession

# Evaluated by a blank page as a person's gesture, this leaves the clipboard empty.
COPY_NOTHING = """(() => {
    const empty = event => { event.preventDefault(); event.clipboardData.setData('text/plain', '') }
    addEventListener('copy', empty)
    document.execCommand('copy')
    removeEventListener('copy', empty)
})()"""


def empty(devtools: CDPSession) -> None:
    """Empty the clipboard by way of a blank page; raises Playwright's Error."""
    devtools.send("Runtime.evaluate", {"expression": COPY_NOTHING, "userGesture": True})
