"""Fetch a site's robots.txt by the running job's way out: in a page of its own, in pieces.

No more of it is read than counts, and no longer than a moment. What the browser cannot have is
raised as it says it.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import CDPSession, Page
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import TimeoutError as PlaywrightTimeoutError

from worker.browser.robots_rules import MAX_BYTES
from worker.retry_after import retry_after_seconds

SECONDS = 10.0
_PIECE = 1 << 16
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True)
class RobotsAnswer:
    """What a site answered when it was asked for its robots.txt; status 0: nothing in time."""

    status: int
    text: str = ""
    retry_after: float | None = None


def fetch(page: Page, url: str, seconds: float = SECONDS) -> RobotsAnswer:
    """Ask for a robots.txt, following redirects; raises Playwright's Error if nobody answers."""
    reader = _Reader(page.context.new_cdp_session(page))
    try:
        page.goto(url, timeout=seconds * 1000, wait_until="commit")
    except PlaywrightTimeoutError:
        pass
    except PlaywrightError:
        # It always ends so: what was read is not shown.
        if reader.answer is None:
            raise
    return reader.answer or RobotsAnswer(0)


class _Reader:
    """Reads what a page is answered, instead of the page."""

    def __init__(self, devtools: CDPSession) -> None:
        self.answer: RobotsAnswer | None = None
        self._devtools = devtools
        devtools.on("Fetch.requestPaused", self._read)
        devtools.send(
            "Fetch.enable", {"patterns": [{"urlPattern": "*", "requestStage": "Response"}]}
        )

    def _read(self, event: dict[str, Any]) -> None:
        paused = {"requestId": event["requestId"]}
        try:
            status = int(event.get("responseStatusCode") or 0)
            headers = {
                each["name"].lower(): each["value"] for each in event.get("responseHeaders", ())
            }
            if not status or (status in _REDIRECTS and "location" in headers):
                self._devtools.send("Fetch.continueRequest", paused)
                return
            after = retry_after_seconds(headers.get("retry-after", ""))
            text = self._text(paused) if 200 <= status < 300 else ""
            self.answer = RobotsAnswer(status, text, after)
            self._devtools.send("Fetch.failRequest", {**paused, "errorReason": "Aborted"})
        except PlaywrightError:
            # Its time is over, and the page is gone.
            pass

    def _text(self, paused: dict[str, Any]) -> str:
        handle = self._devtools.send("Fetch.takeResponseBodyAsStream", paused)["stream"]
        content = b""
        while len(content) < MAX_BYTES:
            piece = self._devtools.send("IO.read", {"handle": handle, "size": _PIECE})
            data = piece["data"]
            content += base64.b64decode(data) if piece.get("base64Encoded") else data.encode()
            if piece["eof"]:
                break
        self._devtools.send("IO.close", {"handle": handle})
        return content[:MAX_BYTES].decode("utf-8", "replace")
