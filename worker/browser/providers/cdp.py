"""A browser that somebody else runs: connect to its endpoint, use its own context, disconnect.

It is never stopped from here: it is not ours, and we know no way to start it again.
"""

from __future__ import annotations

import time

from playwright.sync_api import Browser, BrowserContext, Playwright
from playwright.sync_api import Error as PlaywrightError

from worker.browser.launch import first_line
from worker.browser.providers import remote_way_out
from worker.browser.providers.endpoint import label, normalise, secrets_in
from worker.browser.providers.provider import OpenedProfile, Within
from worker.browser.providers.spec import ProfileSpec
from worker.errors import ProviderError
from worker.evidence import known_secrets
from worker.evidence.redaction import redact_text

CONNECT_SECONDS = 20.0
# A vendor may name its port a moment before the browser listens there.
CONNECT_TRIES = 3
CONNECT_PAUSE_SECONDS = 0.5


class CdpProvider:
    """Connects to `spec.endpoint`."""

    open_seconds = CONNECT_TRIES * CONNECT_SECONDS + 5.0

    def open(self, playwright: Playwright, spec: ProfileSpec) -> OpenedProfile:
        """Connect to the endpoint and take its first context; raises ProviderError."""
        if not spec.endpoint or (endpoint := normalise(spec.endpoint)) is None:
            raise ProviderError(
                f"{spec} has no usable endpoint: give it one such as http://127.0.0.1:9222",
                provider=spec.provider,
                kind="bad_answer",
            )
        browser, context = connect(playwright, spec, endpoint)
        return OpenedProfile(spec, context, browser)

    def close(self, opened: OpenedProfile, within: Within) -> None:
        """Disconnect; the browser and its pages live on."""
        if opened.browser is not None:
            within(opened.browser.close)

    def kill(self, opened: OpenedProfile) -> None:
        """Do nothing: only the end of the driver frees a call that hangs in another's browser."""

    def give_up(self) -> None:
        """Do nothing: connecting has its own limit."""

    def stop(self, spec: ProfileSpec) -> str | None:
        """Do nothing: a connection ends with the process that held it."""
        return None

    def left_running(self, spec: ProfileSpec) -> str | None:
        """Nothing of ours runs there."""
        return None


def connect(
    playwright: Playwright, spec: ProfileSpec, endpoint: str
) -> tuple[Browser, BrowserContext]:
    """Connect over CDP and find the profile's own context; raises ProviderError."""
    # The driver repeats them in its errors.
    known_secrets.add(secrets_in(endpoint))
    where = label(endpoint)
    for tries_left in reversed(range(CONNECT_TRIES)):
        try:
            browser = playwright.chromium.connect_over_cdp(endpoint, timeout=CONNECT_SECONDS * 1000)
            break
        except PlaywrightError as error:
            if tries_left and "ECONNREFUSED" in str(error):
                time.sleep(CONNECT_PAUSE_SECONDS)
                continue
            raise ProviderError(
                f"{spec}: no browser answers at {where} "
                f"({redact_text(first_line(error))}); look whether it runs",
                provider=spec.provider,
                kind="unreachable",
            ) from error
    if not browser.contexts:
        browser.close()
        raise ProviderError(
            f"{spec}: the browser at {where} has no context to work in",
            provider=spec.provider,
            kind="bad_answer",
        )
    try:
        remote_way_out.check(browser, spec)
    except ProviderError:
        browser.close()
        raise
    return browser, browser.contexts[0]
