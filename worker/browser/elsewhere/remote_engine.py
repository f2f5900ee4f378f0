"""An engine whose ordinary browser runs elsewhere: connected to, not started.

Its driver is ours and starts profiles' browsers as always. A call that hangs in a browser elsewhere
is ended by killing the driver: that cuts the connection, and the endpoint ends what it held for us.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from playwright.sync_api import BrowserContext
from playwright.sync_api import Error as PlaywrightError

from worker.browser.elsewhere.browsers import SEARCH_SECONDS, Browsers
from worker.browser.elsewhere.config import Elsewhere
from worker.browser.elsewhere.connecting import Connected, connect
from worker.browser.elsewhere.places import Place
from worker.browser.elsewhere.troubles import EndpointFailed
from worker.browser.engine import CLOSE_SECONDS, Engine
from worker.browser.face import user_agent
from worker.browser.options import BrowserOptions
from worker.browser.watchdog import Limit
from worker.errors import LaunchFailed


class RemoteEngine(Engine):
    """One driver, and one browser elsewhere at a time."""

    def __init__(
        self,
        options: BrowserOptions,
        elsewhere: Elsewhere,
        limit: Callable[[float], Limit],
    ) -> None:
        super().__init__(options, limit)
        self.remote: Browsers = Browsers(options, elsewhere)
        self._has_default_context = elsewhere.has_default_context
        self._is_headless = False
        self._wishes = options

    @property
    def has_own_clipboard(self) -> bool:
        """A browser elsewhere is nobody's desktop: what a job copies there is emptied."""
        return True

    @property
    def context_defaults(self) -> dict[str, Any]:
        """Leave browsers elsewhere as they are, but for the word "Headless"."""
        assert self.browser is not None
        major = self.browser.version.partition(".")[0]
        if not self._is_headless or not major.isdigit():
            return {}
        return {"user_agent": user_agent("linux", int(major))}

    @property
    def sole_context(self) -> BrowserContext | None:
        """The context that the service has made, if jobs are to work in that one."""
        if not self._has_default_context or self.browser is None:
            return None
        # Without one, as behind a Playwright server, a fresh one is the same.
        return next(iter(self.browser.contexts), None)

    @property
    def is_browser_alive(self) -> bool:
        """Whether driver and connection stand, by what the driver has heard until now."""
        if self.browser is None or not self.is_driver_alive:
            return False
        if self.side_calls is not None:
            self.side_calls.hear()
        return self.browser.is_connected()

    def launch(self, on_disconnect: Callable[..., None], seconds: float | None = None) -> None:
        """Connect to a browser; raises BrowserAway, or LaunchFailed where waiting is of no use."""
        self.drop_browser()
        # The guarding proxy is on this machine's loopback: no browser elsewhere reaches it.
        self._wishes = self.way_out.for_launch(replace(self._options, way_out=None))
        hosts = self.way_out.hosts
        if hosts and self._has_default_context:
            raise LaunchFailed(
                "proxies are configured, and the context of a browser elsewhere can have none: "
                "leave out --endpoint-context default, or remove the proxies"
            )
        connected = self.remote.open(self, hosts, SEARCH_SECONDS if seconds is None else seconds)
        self.browser, self._is_headless = connected.browser, connected.is_headless
        self.browser.on("disconnected", on_disconnect)

    def prepare(self) -> None:
        """Have a driver to connect with; raises LaunchFailed."""
        if not self.is_driver_alive:
            self.restart_driver()

    def connect(self, place: Place) -> Connected:
        """Connect within the time for a launch; raises EndpointFailed."""
        assert self.playwright is not None
        seconds = self._options.launch_timeout_seconds
        # Playwright's own timeout explains more than a killed driver does: it goes first.
        with self._limit(seconds + CLOSE_SECONDS) as limit:
            try:
                return connect(self.playwright, place, self._wishes, seconds)
            except EndpointFailed as failed:
                if limit.fired:
                    raise EndpointFailed("it gives no browser in time") from failed
                raise

    def drop_browser(self) -> None:
        """Disconnect, and end the session at the service."""
        browser, self.browser = self.browser, None
        if browser is not None and browser.is_connected() and self.is_driver_alive:
            with self._limit(CLOSE_SECONDS):
                try:
                    browser.close()
                except (PlaywrightError, OSError):
                    # It has gone meanwhile.
                    pass
        super().drop_browser()
        self.remote.let_go()

    def drop_driver(self) -> None:
        """End the driver, and with it the connection."""
        if self.side_calls is not None:
            self.kill_driver()
            # What its connection leaves undone would be told of as an error.
            self.side_calls.let_end()
        super().drop_driver()
        self.remote.let_go()

    def no_page(self, problem: str) -> LaunchFailed:
        """Say that the browser is of no use, and leave its endpoint alone."""
        return self.remote.blame(problem)

    def kill_ordinary(self) -> None:
        """Cut the connection: only the driver's end does that from any thread."""
        self.kill_driver()
