"""Which tab a job gets, by the isolation its task asks for, and what becomes of it afterwards.

`context`: a fresh one, prepared ahead. `page`: two by turns for all such tasks, one of them emptied
while the other one has a job.
`worker`: one for each task, kept with its log-in. Whoever calls limits the time; after a browser
is lost, `forget`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from playwright.sync_api import BrowserContext, Page
from playwright.sync_api import Error as PlaywrightError

from worker.browser.closing_tabs import ClosingTabs
from worker.browser.context_options import ContextOptions
from worker.browser.context_reuse import ContextReuse
from worker.browser.elsewhere import default_context
from worker.browser.emptied_tab import EmptiedTab
from worker.browser.engine import Engine
from worker.browser.guards import Guards
from worker.browser.page_reuse import PageReuse
from worker.browser.ready_tab import ReadyTab
from worker.browser.recorder import Recorder
from worker.browser.spare_tab import SpareTab
from worker.browser.tab import Tab
from worker.browser.tab_wish import PAGE, Place, TabWish
from worker.browser.task_contexts import TaskContexts
from worker.errors import PageRefused
from worker.proxies.proxy import Proxy
from worker.tasks.registry import Isolation
from worker.tasks.wishes import NONE, Wishes

# Each kept context is a process of 50 MB or more; a worker has seldom more tasks that log in.
MAX_KEPT = 8
# Does one step of cleaning up within its limit, and tells whether it went well.
CleanUp = Callable[[Callable[[], object]], bool]


@dataclass(frozen=True, slots=True)
class _Kept:
    place: Place
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
        self._kept: OrderedDict[Place, _Kept] = OrderedDict()
        self._spare = SpareTab(self._make, self.close)
        self._closing = ClosingTabs()
        self._emptied: EmptiedTab[_Kept] = EmptiedTab()
        self._contexts: TaskContexts | None = None
        # In a browser elsewhere that has one context only.
        self._guest: Tab | None = None
        # What the running job's pages go through, and so contexts of its own.
        self._proxy: Proxy | None = None
        self._ready = ReadyTab(engine)

    def wish(self, isolation: Isolation, task: str, options: ContextOptions) -> TabWish:
        """Say what tab a job gets that wishes for this: a fresh one, where none can be emptied."""
        can_be_emptied = options.wishes.can_be_emptied and self._engine.is_chromium
        if isolation == "page" and not can_be_emptied:
            return TabWish("context", task, options)
        return TabWish(isolation, task, options)

    def take(self, wish: TabWish) -> Tab:
        """Give the tab for a job; raises Playwright's Error when the browser gives none."""
        self._proxy = wish.options.proxy
        self._ready.hear_of_crashes()
        tab, is_reused = self._take(wish), wish.isolation == "page"
        if not self._ready.prepare(tab, is_reused=is_reused):
            self.give_back(tab, clean=False)
            tab = self._take(wish)
            self._ready.prepare(tab, is_reused=is_reused, seconds=None)
        return tab

    def blame_wishes(self, options: ContextOptions, problem: str) -> None:
        """Raise PageRefused if the browser gives a tab without a job's wishes, but none with them.

        Otherwise it is the browser that is at fault.
        """
        if not options.wishes or not self._engine.is_browser_alive:
            return
        try:
            plain = self._make(replace(options, wishes=NONE))
        except PlaywrightError:
            return
        self.close(plain)
        raise PageRefused(f"the browser refuses the options of its context: {problem}")

    def prepare_next(
        self, tab: Tab, wish: TabWish, foresee: Callable[[], Wishes | None] = lambda: None
    ) -> None:
        """Have the next job's tab made as soon as this job waits for its site.

        `foresee` says what that one will wish for, if anybody knows: otherwise the same again.
        """
        side_calls = self._engine.side_calls
        if wish.place is not None or side_calls is None or tab.is_tracing:
            return

        def plan() -> None:
            foreseen = foresee()
            same = wish.options
            options = same if foreseen is None else replace(same, wishes=foreseen)
            self._spare.plan(side_calls, options)

        tab.on_first_request(plan)

    def give_back(self, tab: Tab, *, clean: bool) -> None:
        """Take a tab back after its job: keep it, if it is one to keep, or close it."""
        self._ready.note_end()
        for step in self._contexts.closing_steps() if self._contexts is not None else ():
            self._clean_up(step)
        kept = next((each for each in self._kept.values() if each.tab is tab), None)
        if kept is not None:
            del self._kept[kept.place]
            if clean and self._keep(kept):
                self._drop_files(tab)
                self._drop_least_used()
                return
        if clean and kept is None and tab.is_plain and tab is not self._guest:
            self._close_beside(tab)
        else:
            self.close(tab)
        if tab is self._guest:
            self._guest = None
            self._engine.drop_browser()

    def _keep(self, kept: _Kept) -> bool:
        """Make a tab fit for another job; False when it has to go."""
        if isinstance(kept.reuse, ContextReuse):
            if not self._clean_up(kept.reuse.tidy):
                return False
            self._kept[kept.place] = kept
            return True
        self._take_emptied()
        side_calls = self._engine.side_calls
        if side_calls is None or not kept.tab.is_plain:
            return False
        tidy = kept.reuse.tidy
        return self._clean_up(lambda: self._emptied.begin(side_calls, kept, tidy))

    def _take_emptied(self) -> None:
        """Keep the tab that was emptied beside the last job, if it is as good as new."""
        self._clean_up(self._emptied.wait)
        if (emptied := self._emptied.take()) is not None:
            kept, is_fit = emptied
            if is_fit:
                self._kept[kept.place] = kept
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
        self._take_emptied()
        for place in [each for each in self._kept if each[0] == PAGE]:
            self.close(self._kept.pop(place).tab)

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
        if (context := self._engine.sole_context) is not None:
            return self._in_sole_context(context, wish)
        place = wish.place
        if place is None:
            return self._spare.take(wish.options) or self._make(wish.options)
        if place[0] == PAGE and place not in self._kept and self._emptied.is_done:
            self._take_emptied()
        kept = self._kept.pop(place, None)
        if kept is not None and (kept.options != wish.options or not kept.tab.is_usable):
            self.close(kept.tab)
            kept = None
        if kept is None:
            kept = self._make_kept(wish, place)
        self._kept[place] = kept
        kept.reuse.begin_job()
        self._guards.blockings.renew(kept.tab.context)
        return kept.tab

    def _in_sole_context(self, context: BrowserContext, wish: TabWish) -> Tab:
        """Open a page in the one context there is; the session goes with its job."""
        self._task_contexts()
        assert context.browser is not None
        self._guards.watch(context, context.browser, has_proxy=False)
        tab = self._guest = Tab(context, self._recorder, keeps_context=True)
        default_context.make_fit(tab, downloads=wish.options.downloads)
        return tab

    def _drop_files(self, tab: Tab) -> None:
        if tab.has_files:
            tab.has_files = False
            self._engine.folder.drop_leavings()

    def _drop_least_used(self) -> None:
        while len(self._kept) > MAX_KEPT:
            _, kept = self._kept.popitem(last=False)
            self.close(kept.tab)

    def _make_kept(self, wish: TabWish, place: Place) -> _Kept:
        tab = self._make(wish.options)
        if wish.isolation == "page":
            assert self._engine.side_calls is not None
            return _Kept(place, tab, wish.options, PageReuse(tab, self._engine.side_calls))
        return _Kept(place, tab, wish.options, ContextReuse(tab))

    @contextmanager
    def page_beside(self, options: ContextOptions, agent: str) -> Iterator[Page]:
        """Have a page for a moment that serves no job, in a context of its own."""
        context = self._new_context(options, user_agent=agent)
        try:
            yield context.new_page()
        finally:
            self._clean_up(context.close)

    def _make(self, options: ContextOptions) -> Tab:
        context = self._new_context(options)
        try:
            return Tab(context, self._recorder, has_devtools=self._engine.is_chromium)
        except PlaywrightError:
            context.close()
            raise

    def _new_context(self, options: ContextOptions, **more: Any) -> BrowserContext:
        context = self._task_contexts().make(**options.as_playwright(), **more)
        browser = self._engine.browser
        assert browser is not None
        try:
            self._guards.watch(context, browser, has_proxy=options.proxy is not None)
            self._guards.blockings.put_on(context, options.wishes.block)
        except PlaywrightError:
            context.close()
            raise
        return context

    def _task_contexts(self) -> TaskContexts:
        browser = self._engine.browser
        assert browser is not None
        if self._contexts is None or not self._contexts.is_of(browser):
            self._contexts = TaskContexts(
                browser,
                self._guards,
                self._recorder,
                lambda: self._proxy,
                self._engine.context_defaults,
            )
        return self._contexts
