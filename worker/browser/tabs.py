"""Which tab a job gets, by the isolation its task asks for, and what becomes of it afterwards.

`context`: a fresh one, prepared ahead. `page`: two by turns for all such tasks, one of them emptied
while the other one has a job.
`worker`: one for each task, kept with its log-in. Whoever calls limits the time; after a browser
is lost, `forget`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from playwright.sync_api import Error as PlaywrightError

from worker.browser import clipboard
from worker.browser.closing_tabs import ClosingTabs
from worker.browser.context_options import ContextOptions
from worker.browser.context_reuse import ContextReuse
from worker.browser.emptied_tab import EmptiedTab
from worker.browser.engine import Engine
from worker.browser.guards import Guards
from worker.browser.page_reuse import PageReuse
from worker.browser.recorder import Recorder
from worker.browser.spare_tab import SpareTab
from worker.browser.tab import Tab
from worker.browser.task_contexts import TaskContexts
from worker.proxies.proxy import Proxy
from worker.tasks.registry import Isolation

# Each kept context is a process of 50 MB or more; a worker has seldom more tasks that log in.
MAX_KEPT = 8
# Where the page of all tasks that share one stands.
PAGE = "page"

# Does one step of cleaning up within its limit, and tells whether it went well.
CleanUp = Callable[[Callable[[], object]], bool]


@dataclass(frozen=True, slots=True)
class TabWish:
    """What tab a job wants: how isolated, for which task, made with what."""

    isolation: Isolation
    task: str
    options: ContextOptions

    @property
    def place(self) -> str | None:
        """Where a tab that is kept for such jobs stands; a name that no other task has."""
        return {"context": None, "page": PAGE, "worker": f"worker {self.task}"}[self.isolation]


@dataclass(frozen=True, slots=True)
class _Kept:
    tab: Tab
    options: ContextOptions
    reuse: PageReuse | ContextReuse


class Tabs:
    """The tabs of one worker's ordinary browser."""

    def __init__(
        self, engine: Engine, recorder: Recorder, guards: Guards, clean_up: CleanUp
    ) -> None:
        self._engine = engine
        self._recorder = recorder
        self._guards = guards
        self._clean_up_within_limit = clean_up
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._spare = SpareTab(self._make, self.close)
        self._closing = ClosingTabs()
        self._emptied: EmptiedTab[_Kept] = EmptiedTab()
        self._contexts: TaskContexts | None = None
        # What the running job's pages go through, and so contexts of its own.
        self._proxy: Proxy | None = None

    def take(self, wish: TabWish) -> Tab:
        """Give the tab for a job; raises Playwright's Error when the browser gives none."""
        self._proxy = wish.options.proxy
        tab = self._take(wish)
        if self._engine.has_own_clipboard:
            clipboard.empty(tab.devtools)
        return tab

    def prepare_next(self, tab: Tab, wish: TabWish) -> None:
        """Have the next job's tab made as soon as this job waits for its site."""
        side_calls = self._engine.side_calls
        if wish.place is None and side_calls is not None and not tab.is_tracing:
            tab.on_first_request(lambda: self._spare.plan(side_calls, wish.options))

    def give_back(self, tab: Tab, *, clean: bool) -> None:
        """Take a tab back after its job: keep it, if it is one to keep, or close it."""
        for step in self._contexts.closing_steps() if self._contexts is not None else ():
            self._clean_up(step)
        place, kept = next(((p, k) for p, k in self._kept.items() if k.tab is tab), ("", None))
        if kept is not None:
            del self._kept[place]
            if clean and self._keep(place, kept):
                self._drop_files(tab)
                self._drop_least_used()
                return
        if clean and kept is None and tab.is_plain:
            self._close_beside(tab)
        else:
            self.close(tab)

    def _keep(self, place: str, kept: _Kept) -> bool:
        """Make a tab fit for another job; False when it has to go."""
        if isinstance(kept.reuse, ContextReuse):
            if not self._clean_up(kept.reuse.tidy):
                return False
            self._kept[place] = kept
            return True
        self._take_emptied(place)
        side_calls = self._engine.side_calls
        if side_calls is None or not kept.tab.is_plain:
            return False
        tidy = kept.reuse.tidy
        return self._clean_up(lambda: self._emptied.begin(side_calls, kept, tidy))

    def _take_emptied(self, place: str) -> None:
        """Keep the tab that was emptied beside the last job, if it is as good as new."""
        self._clean_up(self._emptied.wait)
        if (emptied := self._emptied.take()) is not None:
            kept, is_fit = emptied
            if is_fit:
                self._kept[place] = kept
            else:
                self.close(kept.tab)

    def close(self, tab: Tab) -> None:
        """Close a tab and wait for that; never raises."""
        self._clean_up(lambda: tab.stop_trace(None))
        for step in tab.closing_steps():
            self._clean_up(step)
        self._drop_files(tab)

    def _close_beside(self, tab: Tab) -> None:
        self._clean_up(self._closing.wait)
        if (side_calls := self._engine.side_calls) is not None:
            self._clean_up(lambda: self._closing.begin(side_calls, tab))

    def renew(self) -> None:
        """Let the next page-isolated job have a fresh context."""
        self._take_emptied(PAGE)
        if (kept := self._kept.pop(PAGE, None)) is not None:
            self.close(kept.tab)

    def drop_spare(self) -> None:
        """Close the tab that is prepared for the next job."""
        self._spare.drop()

    def go_out_by(self, proxy: Proxy | None) -> None:
        """Drop a browser that cannot go out so: its flags were given to it when it was started."""
        if not self._engine.way_out.suits(proxy):
            self.forget()
            self._engine.drop_browser()

    def forget(self) -> None:
        """Think no more of any of them, because their browser is gone."""
        self._kept.clear()
        self._emptied.forget()
        self._spare.forget()
        self._closing.forget()

    def _clean_up(self, step: Callable[[], object]) -> bool:
        # A call to a dead driver is never begun, and Python says so in the log.
        return self._engine.is_driver_alive and self._clean_up_within_limit(step)

    def _take(self, wish: TabWish) -> Tab:
        if wish.place is None:
            return self._spare.take(wish.options) or self._make(wish.options)
        if wish.place == PAGE and PAGE not in self._kept and self._emptied.is_done:
            self._take_emptied(PAGE)
        kept = self._kept.pop(wish.place, None)
        if kept is not None and (kept.options != wish.options or not kept.tab.is_usable):
            self.close(kept.tab)
            kept = None
        if kept is None:
            kept = self._make_kept(wish)
        self._kept[wish.place] = kept
        kept.reuse.begin_job()
        return kept.tab

    def _drop_files(self, tab: Tab) -> None:
        if tab.has_files:
            tab.has_files = False
            self._engine.folder.drop_leavings()

    def _drop_least_used(self) -> None:
        while len(self._kept) > MAX_KEPT:
            _, kept = self._kept.popitem(last=False)
            self.close(kept.tab)

    def _make_kept(self, wish: TabWish) -> _Kept:
        tab = self._make(wish.options)
        if wish.isolation == "page":
            assert self._engine.side_calls is not None
            return _Kept(tab, wish.options, PageReuse(tab, self._engine.side_calls))
        return _Kept(tab, wish.options, ContextReuse(tab))

    def _make(self, options: ContextOptions) -> Tab:
        browser = self._engine.browser
        assert browser is not None
        if self._contexts is None or not self._contexts.is_of(browser):
            self._contexts = TaskContexts(
                browser, self._guards, lambda: self._proxy, self._engine.context_defaults
            )
        context = self._contexts.make(**options.as_playwright())
        try:
            self._guards.watch(context, browser, has_proxy=options.proxy is not None)
            return Tab(context, self._recorder)
        except PlaywrightError:
            context.close()
            raise
