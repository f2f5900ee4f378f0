"""Cookies and local storage of an open profile, in and out, as Playwright's `storage_state`.

No site is asked for anything: a page that must be at an origin to reach its storage gets an empty
document from here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Page, Route

from worker.browser.launch import first_line
from worker.browser.session import BrowserSession
from worker.errors import ProviderError, UsageError
from worker.evidence.redaction import redact_text

# For all cookies, and for each origin's storage.
COOKIES_SECONDS = 30.0
ORIGIN_SECONDS = 10.0

_READ = "() => Object.entries(localStorage).map(([name, value]) => ({name, value}))"
_WRITE = "items => items.forEach(({name, value}) => localStorage.setItem(name, value))"


def read(session: BrowserSession, origins: Iterable[str] = ()) -> dict[str, Any]:
    """Read the open profile's cookies, and the local storage of these origins; ProviderError."""
    page = session.page_for_job()
    try:
        with session.limit(COOKIES_SECONDS):
            cookies = page.context.cookies()
        found = []
        for origin in origins:
            with session.limit(ORIGIN_SECONDS):
                _stand_at(page, origin)
                found.append({"origin": origin, "localStorage": page.evaluate(_READ)})
    except PlaywrightError as error:
        raise _failed(session, error) from error
    return {"cookies": cookies, "origins": found}


def write(session: BrowserSession, state: dict[str, Any]) -> None:
    """Add cookies and local storage to the open profile; raises ProviderError.

    Raises UsageError, which repeats no cookie, when the browser does not take one of them.
    """
    page = session.page_for_job()
    try:
        with session.limit(COOKIES_SECONDS):
            _add_cookies(session, page, state["cookies"])
        for each in state["origins"]:
            with session.limit(ORIGIN_SECONDS):
                _stand_at(page, each["origin"])
                page.evaluate(_WRITE, each["localStorage"])
    except PlaywrightError as error:
        raise _failed(session, error) from error


def _add_cookies(session: BrowserSession, page: Page, cookies: list[Any]) -> None:
    try:
        page.context.add_cookies(cookies)
    except PlaywrightError as error:
        if not session.is_alive:
            raise
        raise UsageError(
            f"the browser takes none of the cookies ({redact_text(first_line(error))}); "
            f"nothing was changed"
        ) from error


def _stand_at(page: Page, origin: str) -> None:
    page.unroute_all()
    page.route("**/*", _answer)
    page.goto(origin)


def _answer(route: Route) -> None:
    route.fulfill(status=200, content_type="text/html", body="<!doctype html><title></title>")


def _failed(session: BrowserSession, error: PlaywrightError) -> ProviderError:
    return ProviderError(
        f"profile {session.profile.profile_id}: its browser refused "
        f"({redact_text(first_line(error))})",
        provider="",
        kind="refused",
    )
