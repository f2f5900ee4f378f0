"""The page of a job that is done, taken as it stands: a picture and its HTML, masked.

It never raises and asks a page only once whether it answers: one that does not is left alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlsplit

from playwright.sync_api import FloatRect, Page

from worker.browser.session import BrowserSession
from worker.evidence.html_secrets import mask_html
from worker.evidence.redaction import redact_url

# A page that answers is taken in a tenth of this; past it the browser is killed. The page and its
# picture are given up before: only the HTML has no time limit of its own.
LIMIT_SECONDS = 2.5
PROBE_MS = 500
PICTURE_MS = 1500
# The first screen and a half: 2,400 px take twice as long (0.23 s for 0.10 s, measured).
AREA: FloatRect = {"x": 0, "y": 0, "width": 1920, "height": 1200}
QUALITY = 60
# Longer HTML is left out: to mask it takes too long, and half of it would tell lies.
MAX_HTML = 2_000_000
HTTP_ERRORS = 400


@dataclass(frozen=True, slots=True)
class TakenPage:
    """What is kept of a page: a JPEG, the HTML unless it is too long, where and when it was."""

    picture: bytes
    html: bytes | None
    url: str
    status: int
    at: str


def is_worth_taking(session: BrowserSession) -> bool:
    """Tell, without asking the browser, whether there is an ordinary web page that may be kept.

    Never one of a profile: what an account sees is private.
    """
    page, answer = session.page, session.recorder.main_response
    return (
        page is not None
        and answer is not None
        and answer.status < HTTP_ERRORS
        and session.profile.profile_id is None
        and session.guards.why_hidden is None
        and not session.recorder.is_page_crashed
        and not page.is_closed()
        and urlsplit(page.url).scheme in ("http", "https")
        and session.is_alive
    )


def take(session: BrowserSession) -> TakenPage | None:
    """Take the running job's page; None when it does not answer, or says something odd."""
    tab, answer = session.tab, session.recorder.main_response
    if tab is None or answer is None:
        return None
    page = tab.page
    with session.limit(LIMIT_SECONDS) as limit:
        try:
            # Nobody keeps the trace of a good job, and while it is recorded all takes longer.
            tab.stop_trace(None)
            page.wait_for_function("() => true", polling=50, timeout=PROBE_MS).dispose()
            picture = _picture(page)
            html = page.content()
        except Exception:  # noqa: BLE001 - the job is done: nothing about its page may harm the worker.
            return None
    if limit.fired:
        return None
    return TakenPage(
        picture=picture,
        html=mask_html(html).encode("utf-8", "replace") if len(html) <= MAX_HTML else None,
        url=redact_url(page.url),
        status=answer.status,
        at=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
    )


def _picture(page: Page) -> bytes:
    return page.screenshot(
        type="jpeg",
        quality=QUALITY,
        timeout=PICTURE_MS,
        animations="disabled",
        full_page=True,
        clip=AREA,
    )
