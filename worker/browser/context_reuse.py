"""One tab for the jobs of one task (`isolation="worker"`): its log-in stays, the rest is put back.

Between jobs the page is left blank, and popups, listeners, routes and held keys go. A change that
cannot be undone (a script, a clock, a header) makes the tab worn, and its log-in goes with it.
"""

from __future__ import annotations

from playwright.sync_api import Error as PlaywrightError

from worker.browser.input_state import InputState
from worker.browser.lasting_changes import UndoList, wear_tab_by_changes
from worker.browser.tab import Tab

TIDY_SECONDS = 2.0


class ContextReuse:
    """A tab that stays with its task."""

    def __init__(self, tab: Tab) -> None:
        self._tab = tab
        self._input = InputState(tab.page)
        self._undo_list = UndoList(tab.page, tab.context)
        wear_tab_by_changes(tab, but_undoable=True)

    def begin_job(self) -> None:
        """Nothing to do: what the job before has left is what its task wants."""

    def tidy(self) -> bool:
        """Put back what can be; False when the tab has to be replaced."""
        tab = self._tab
        if not tab.is_usable:
            return False
        try:
            tab.stop_trace(None)
            for page in tab.context.pages:
                if page is not tab.page:
                    page.close()
            self._undo_list.undo()
            # The same page stays: many sites keep a log-in in the tab's own storage.
            tab.page.goto("about:blank", timeout=TIDY_SECONDS * 1000, wait_until="commit")
            self._input.let_go()
        except PlaywrightError:
            return False
        return tab.is_usable
