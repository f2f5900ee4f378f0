"""What error.json says beside the failure itself: when, where, which browser, which page."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from worker.browser.session import BrowserSession
from worker.evidence.redaction import redact_url
from worker.system.identity import this_host

# Its name is another one where Nightshift is installed.
_OWN_PACKAGE = __name__.rpartition(".browser.")[0]


def times(seconds: float | None) -> dict[str, Any]:
    """Say when the attempt began and failed, by this machine's clock: it is for people to read."""
    finished = datetime.now(UTC)
    started = finished - timedelta(seconds=seconds) if seconds is not None else None
    return {
        "started": _iso(started) if started else None,
        "finished": _iso(finished),
        "clock": "host",
    }


def shown_page(session: BrowserSession) -> Page | None:
    """Find the page that evidence is of: the job's, or one that its task has opened beside it.

    That is a page in a context of the task's own, if the task has gone somewhere there last.
    """
    beside = session.recorder.own_pages.last if session.tab is not None else None
    return beside or session.page


def of_machine(session: BrowserSession) -> dict[str, Any]:
    """Name the host, Nightshift's version and the browser's; asks the browser nothing."""
    browser = session.page.context.browser if session.page is not None else None
    return {
        "host": this_host().name,
        # Looked up, not imported: the package imports the queue, which this room must not see.
        "nightshift_version": vars(sys.modules[_OWN_PACKAGE]).get("__version__"),
        # A profile's own context does not lead to its browser.
        "browser_version": browser.version if browser is not None else None,
        "browser": _name(session),
        "elsewhere": session.remote.facts if session.remote is not None else None,
    }


def _name(session: BrowserSession) -> str:
    if session.remote is not None:
        return "elsewhere"
    executable = session.options.executable
    return Path(executable).name if executable else "Playwright's Chromium"


def of_page(session: BrowserSession) -> dict[str, Any]:
    """Tell where the page was and what it had answered; asks the page nothing."""
    recorder, page = session.recorder, shown_page(session)
    answer = recorder.answer_of(page)
    # The URL is known here without asking the browser, even when the page hangs.
    final_url = redact_url(page.url) if page is not None else recorder.last_url
    return {
        "final_url": final_url,
        "status": answer.status if answer else None,
        # What was asked for to get this page: so it can be shown again (`rehearse`).
        "document": {"method": answer.method, "asked": answer.asked, "url": answer.url}
        if answer
        else None,
        "response_headers": answer.headers if answer else {},
        "page_crashed": recorder.is_page_crashed,
        "browser_alive": session.is_alive,
        "dialogs": list(recorder.dialogs),
        "lost_events": recorder.lost_events,
    }


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
