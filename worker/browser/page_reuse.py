"""One page for job after job (`isolation="page"`): emptied between them, or found worn.

The document is left first, its scripts stopped; then cookies, storage, cache, history, the window's
name and held keys are cleared. What cannot be cleared makes the tab worn: a login that the browser
keeps, requests in flight, service workers, popups, downloads, and whatever a task puts on its page.
"""

from __future__ import annotations

from playwright.sync_api import Error as PlaywrightError

from worker.browser.input_state import InputState
from worker.browser.job_requests import JobRequests
from worker.browser.lasting_changes import wear_tab_by_changes
from worker.browser.tab import Tab

TIDY_SECONDS = 2.0


class PageReuse:
    """A tab that is handed on while it is as good as new."""

    def __init__(self, tab: Tab) -> None:
        self._tab = tab
        self._input = InputState(tab.page)
        self._requests = JobRequests(tab)
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
            self._stop_scripts()
            if self._requests.may_outlive_page:
                return False
            self._leave_document()
            self._clear()
        except PlaywrightError:
            return False
        return not self._tab.is_worn

    def _stop_scripts(self) -> None:
        # Its last words (`pagehide`) could send and store something; and now all is known that is
        # in flight.
        self._tab.devtools.send("Emulation.setScriptExecutionDisabled", {"value": True})

    def _leave_document(self) -> None:
        self._tab.page.goto("about:blank", timeout=TIDY_SECONDS * 1000)
        self._tab.devtools.send("Emulation.setScriptExecutionDisabled", {"value": False})

    def _clear(self) -> None:
        tab = self._tab
        self._input.let_go()
        # Cookies are among "all".
        tab.devtools.send("Storage.clearDataForOrigin", {"origin": "*", "storageTypes": "all"})
        tab.devtools.send("Network.clearBrowserCache")
        tab.devtools.send("Page.resetNavigationHistory")
        tab.devtools.send("Runtime.evaluate", {"expression": "window.name = ''"})
        tab.page.clear_console_messages()
        tab.page.clear_page_errors()
