"""Keep pages from private addresses (`--deny-private`), by the best way that each browser offers.

A browser of ours goes out through the guarding proxy, which checks and connects. One that has
another way out (a configured proxy, or a browser that runs elsewhere) resolves names there: of that
one, only requests to private addresses themselves and to `localhost` are refused here.
"""

from __future__ import annotations

import re
import weakref
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, CDPSession, Page
from playwright.sync_api import Error as PlaywrightError

from worker.browser.checked_connection import private_literal
from worker.browser.guarding_proxy import GuardingProxy
from worker.errors import PageRefused

# Hosts as Chromium writes them. What is caught besides is looked at and goes on.
_HOSTS = (
    *("0.*", "10.*", "100.*", "127.*", "168.63.*", "169.254.*", "172.*", "192.*", "198.*"),
    *("203.*", "22?.*", "23?.*", "24?.*", "25?.*", "[*", "localhost*", "*.localhost*"),
)
_PATTERNS = [{"urlPattern": f"*{before}{host}"} for host in _HOSTS for before in ("://", "@")]
_OUR_PROXY_SAYS = re.compile(r"ERR_SOCKS_CONNECTION_[A-Z_]+")
_REQUEST_REFUSED = "ERR_BLOCKED_BY_CLIENT"


class PrivateAddresses:
    """One worker's guard; `way_out` is the proxy that its browsers are started with."""

    def __init__(self) -> None:
        self._proxy = GuardingProxy()
        self.way_out = self._proxy.url
        self._refused: dict[str, str] = {}
        self._watched: weakref.WeakSet[Browser] = weakref.WeakSet()

    def close(self) -> None:
        """Let nothing out any more."""
        self._proxy.close()

    def watch_browser(self, browser: Browser) -> None:
        """Look at the addresses in all of a browser's requests: it goes out by another's proxy."""
        if browser not in self._watched:
            self._watched.add(browser)
            self._watch(browser.new_browser_cdp_session())

    def watch_page(self, page: Page) -> None:
        """Look at the addresses in a page's requests: its browser is not ours."""
        self._watch(page.context.new_cdp_session(page))

    def explain(self, problem: BaseException | None, url: str | None) -> BaseException | None:
        """Say what a navigation to `url` really failed of; None when this guard knows nothing.

        That is a PageRefused, or the error as it would be without the proxy between.
        """
        if not isinstance(problem, PlaywrightError) or url is None:
            return None
        host, text = _host_of(url), str(problem)
        found = _OUR_PROXY_SAYS.search(text[:1000])
        if found is None and _REQUEST_REFUSED not in text[:1000]:
            return None
        reason = (self._proxy.refused if found else self._refused).get(host)
        if reason is not None:
            return PageRefused(reason)
        code = self._proxy.failed.get(host) if found else None
        return PlaywrightError(text.replace(found[0], code, 1)) if found and code else None

    def _watch(self, devtools: CDPSession) -> None:
        def answer(event: dict[str, Any]) -> None:
            host = _host_of(event["request"]["url"])
            reason = private_literal(host)
            paused = {"requestId": event["requestId"]}
            try:
                if reason is None:
                    devtools.send("Fetch.continueRequest", paused)
                else:
                    self._refused[host] = reason
                    devtools.send("Fetch.failRequest", {**paused, "errorReason": "BlockedByClient"})
            except PlaywrightError:
                # The page is gone, and its request with it.
                pass

        devtools.on("Fetch.requestPaused", answer)
        devtools.send("Fetch.enable", {"patterns": _PATTERNS})


def _host_of(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
