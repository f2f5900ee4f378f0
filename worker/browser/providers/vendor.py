"""A vendor's browser: started and stopped by its HTTP API, used over CDP.

Whatever was started is stopped by the API, also after a failed connect, and a disconnect never
stands for a stop. What is open elsewhere, on another machine, is never stopped.
"""

from __future__ import annotations

import logging
import time

from playwright.sync_api import Playwright

from worker.browser.providers.cdp import CdpProvider, connect
from worker.browser.providers.patience import Patience
from worker.browser.providers.provider import OpenedProfile, Within
from worker.browser.providers.spec import ProfileSpec
from worker.browser.providers.vendor_api import VendorApi
from worker.browser.providers.vendor_start import VendorStart
from worker.browser.providers.vendor_stop import Standing, VendorStop
from worker.errors import ProviderError

STOP_SECONDS = 15.0
# A hung job's browser is stopped from the watchdog, which must not be held up for long.
KILL_SECONDS = 5.0
STATUS_SECONDS = 5.0
STANDINGS = {"running": "running", "locked": "open elsewhere", "stopped": "not running"}

logger = logging.getLogger("nightshift.worker")


class VendorProvider:
    """Opens the profiles of one vendor."""

    def __init__(self, api: VendorApi) -> None:
        self._api = api
        self._patience = Patience()
        self._stops = VendorStop(api, self._patience)
        self._starts = VendorStart(api, self._stops, self._patience)
        # The starts and the stop within their limit, a stop after a failure, and the connecting.
        self.open_seconds = api.preset.start_seconds + 2 * STOP_SECONDS + CdpProvider.open_seconds

    def open(self, playwright: Playwright, spec: ProfileSpec) -> OpenedProfile:
        """Start the profile and connect to it; raises ProviderError, with the profile stopped."""
        self._patience.begin()
        try:
            deadline = time.monotonic() + self._api.preset.start_seconds
            endpoint = self._starts.start(spec, deadline)
            browser, context = connect(playwright, spec, endpoint)
        except BaseException as error:
            if self._starts.may_run(error):
                self._stop_quietly(spec, STOP_SECONDS)
            raise
        return OpenedProfile(spec, context, browser)

    def close(self, opened: OpenedProfile, within: Within) -> None:
        """Disconnect, and stop the browser, which a disconnect would leave running."""
        if opened.browser is not None:
            within(opened.browser.close)
        self._stop_quietly(opened.spec, STOP_SECONDS)

    def kill(self, opened: OpenedProfile) -> None:
        """Have the vendor stop a browser that hangs, from any thread."""
        self._stop_quietly(opened.spec, KILL_SECONDS, forgets=False)

    def give_up(self) -> None:
        """Wait no longer in an `open` that goes on, from any thread."""
        self._patience.give_up()
        self._api.cut()

    def stop(self, spec: ProfileSpec) -> str | None:
        """Have the vendor stop the profile's browser; not running is fine. Raises ProviderError."""
        self._patience.begin()
        deadline = time.monotonic() + STOP_SECONDS
        was_running = self._stops.stop(spec, deadline)
        if was_running and self._stops.wait_until_stopped(spec, deadline):
            self._stops.left[spec.profile_id] = f"{self._api.preset.title} says that {spec} runs on"
            raise self._api.error(f"says that {spec} runs on after it was stopped", "refused")
        return f"{self._api.preset.title} has stopped its browser" if was_running else None

    def left_running(self, spec: ProfileSpec) -> str | None:
        """Say why the vendor's last stop of the profile failed, if it did."""
        return self._stops.left.get(spec.profile_id)

    def standing(self, spec: ProfileSpec) -> Standing | None:
        """Ask the vendor how a profile stands now; None when it cannot be asked that."""
        return self._stops.standing(spec, time.monotonic() + STATUS_SECONDS)

    def greet(self, spec: ProfileSpec) -> str:
        """Ask for nothing but an answer; say what the vendor says. Raises ProviderError."""
        deadline = time.monotonic() + STATUS_SECONDS
        title = self._api.preset.title
        signed_in = ", signed in" if self._api.sign_in(spec, deadline) else ""
        if self._api.preset.status is None:
            self._api.reach(spec, deadline)
            return f"{title} answers{signed_in}"
        standing = self._stops.standing(spec, deadline)
        if standing is None:
            raise self._api.error(f"does not say how {spec} stands{signed_in}", "bad_answer")
        return f"{title} answers{signed_in}: {spec} is {STANDINGS[standing]}"

    def _stop_quietly(self, spec: ProfileSpec, seconds: float, *, forgets: bool = True) -> None:
        try:
            self._stops.stop(spec, time.monotonic() + seconds, forgets=forgets)
        except ProviderError as error:
            # Whoever lets go of the profile asks for this, and does not make it available.
            logger.warning("%s; it may still be running", error)
