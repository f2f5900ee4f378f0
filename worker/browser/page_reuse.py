"""One page for job after job (`isolation="page"`): emptied between them, or found worn.

The document is left first, which ends its scripts; then cookies, storage, cache, history and held
keys are cleared; the window's name follows before the next job (`blank_page.py`). What cannot be
cleared makes the tab worn: a login that the browser keeps, requests in flight, service workers,
popups, downloads, and whatever a task puts on its page.
"""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Error as PlaywrightError

from worker.browser import navigation_history
from worker.browser.input_state import InputState
from worker.browser.job_requests import JobRequests
from worker.browser.lasting_changes import wear_tab_by_changes
from worker.browser.listening import listen
from worker.browser.side_calls import SideCalls
from worker.browser.tab import Tab

TIDY_SECONDS = 2.0


class PageReuse:
    """A tab that is handed on while it is as good as new."""

    def __init__(self, tab: Tab, side_calls: SideCalls) -> None:
        self._tab = tab
        self._side_calls = side_calls
        self._input = InputState(tab.page)
        self._requests = JobRequests(tab)
        self._has_spoken = False
        listen(tab.context, "console", self._note_words)
        listen(tab.context, "weberror", self._note_words)
        tab.page.on("popup", tab.wear)
        tab.context.on("page", tab.wear)
        tab.context.on("serviceworker", tab.wear)
        wear_tab_by_changes(tab)

    def begin_job(self) -> None:
        """Count requests from here on."""
        self._requests.begin_job()

    def tidy(self) -> bool:
        """Empty page and storage after a job; False when the tab has to be replaced."""
        if not self._tab.is_plain:
            return False
        try:
            self._requests.leave_page()
            # Leaving it ends its scripts, before anything is cleared; the blank page is not waited
            # for, since the next job leaves it anyway.
            self._tab.page.goto(
                navigation_history.BLANK, timeout=TIDY_SECONDS * 1000, wait_until="commit"
            )
            if self._requests.may_outlive_page:
                return False
            self._clear()
        except PlaywrightError:
            return False
        return self._tab.is_plain

    def _clear(self) -> None:
        page, devtools = self._tab.page, self._tab.devtools
        self._input.let_go()
        self._side_calls.together(
            # Cookies are among "all".
            lambda: devtools.send(
                "Storage.clearDataForOrigin", {"origin": "*", "storageTypes": "all"}
            ),
            lambda: devtools.send("Network.clearBrowserCache"),
        )
        # By now the browser has mostly noted that the page has left, so once is enough.
        navigation_history.forget(devtools)
        if self._has_spoken:
            page.clear_console_messages()
            page.clear_page_errors()
            self._has_spoken = False

    def _note_words(self, *_: Any) -> None:
        self._has_spoken = True
