"""Connect to a browser elsewhere, in Playwright's protocol or over CDP, and look what it is."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Browser, Playwright
from playwright.sync_api import Error as PlaywrightError

from worker.browser.arguments import QUIET_ARGS
from worker.browser.elsewhere.endpoints import Speech
from worker.browser.elsewhere.places import Place, is_reachable
from worker.browser.elsewhere.troubles import EndpointFailed, explain
from worker.browser.options import BrowserOptions

# What a Playwright server takes from its client; arguments only if it was started with --unsafe.
LAUNCH_OPTIONS = "x-playwright-launch-options"


@dataclass(frozen=True, slots=True)
class Connected:
    """A browser elsewhere as it presented itself."""

    browser: Browser
    version: str
    is_headless: bool
    command_line: str


def connect(
    playwright: Playwright, place: Place, options: BrowserOptions, seconds: float
) -> Connected:
    """Connect, in this time at the most; raises EndpointFailed, and then nothing is left open.

    `options` say how the browser is to be started, where the endpoint starts one for us.
    """
    if is_reachable(place.url) is False:
        raise EndpointFailed("nobody answers there: look whether it runs")
    try:
        if place.speech is Speech.CDP:
            browser = playwright.chromium.connect_over_cdp(
                place.url, headers=place.headers, timeout=seconds * 1000
            )
        else:
            headers = {LAUNCH_OPTIONS: json.dumps(_wishes(options)), **place.headers}
            browser = playwright.chromium.connect(
                place.url, headers=headers, timeout=seconds * 1000
            )
    except PlaywrightError as error:
        raise explain(str(error), place.speech) from None
    try:
        return _look(browser)
    except PlaywrightError as error:
        _close(browser.close)
        raise explain(str(error), place.speech) from None


def _wishes(options: BrowserOptions) -> dict[str, Any]:
    wishes: dict[str, Any] = {
        "headless": options.headless,
        "args": [*QUIET_ARGS, *options.launch_args],
    }
    if options.way_out:
        wishes["proxy"] = {"server": options.way_out}
    return wishes


def _look(browser: Browser) -> Connected:
    devtools = browser.new_browser_cdp_session()
    facts = devtools.send("Browser.getVersion")
    try:
        line = devtools.send("SystemInfo.getInfo").get("commandLine") or ""
    except PlaywrightError:
        # Some services keep it to themselves.
        line = ""
    devtools.detach()
    is_headless = "Headless" in f"{facts.get('userAgent')} {facts.get('product')}"
    return Connected(browser, browser.version, is_headless, str(line))


def _close(close: Callable[[], object]) -> None:
    try:
        close()
    except PlaywrightError:
        # It is gone already.
        pass
