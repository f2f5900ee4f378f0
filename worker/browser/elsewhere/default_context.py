"""The context that a service has made itself, where it wants jobs to work in that one.

Each job has a session of its own, and so, at most services, a browser of its own. What an earlier
session may have left there all the same is cleared first, as far as a browser can be asked to.
"""

from __future__ import annotations

from worker.browser.tab import Tab


def make_fit(tab: Tab, *, downloads: bool) -> None:
    """Clear cookies, storage, cache, permissions; refuse files; raises Playwright's Error."""
    tab.context.clear_permissions()
    # Cookies are among "all".
    tab.devtools.send("Storage.clearDataForOrigin", {"origin": "*", "storageTypes": "all"})
    tab.devtools.send("Network.clearBrowserCache")
    if not downloads:
        # It ends with the page: the browser is another's.
        tab.devtools.send("Browser.setDownloadBehavior", {"behavior": "deny"})
