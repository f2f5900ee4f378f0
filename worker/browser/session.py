"""One worker's browser: launched after the fork, kept alive, handed out page by page.

Every call into Playwright that might hang is under the watchdog; a browser or driver found
dead is replaced. After `close` no process and no temporary file of it is left.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Page

from worker.browser import cleaning_step
from worker.browser.context_options import ContextOptions
from worker.browser.elsewhere.browsers import Browsers
from worker.browser.elsewhere.engines import engine_for
from worker.browser.engine import CLOSE_SECONDS
from worker.browser.guards import Guards
from worker.browser.launch import first_line
from worker.browser.live_pictures import LivePictures
from worker.browser.options import BrowserOptions
from worker.browser.page_rules import PageRules
from worker.browser.profile_hold import ProfileHold
from worker.browser.profile_place import ProfilePlace
from worker.browser.providers.registry import Providers
from worker.browser.providers.spec import ProfileSpec
from worker.browser.recorder import Recorder
from worker.browser.tab import Tab
from worker.browser.tab_wish import TabWish
from worker.browser.tabs import Tabs
from worker.browser.watchdog import Limit, Watchdog
from worker.proxies.proxy import Proxy
from worker.system.process_tree import ProcessId
from worker.tasks.registry import Isolation
from worker.tasks.wishes import NONE, Wishes

PAGE_SECONDS = 20.0
EVENTS_SECONDS = 2.0
# How long a job that has begun waits for a browser elsewhere, before it is handed back.
IN_JOB_SECONDS = 10.0


class BrowserSession:
    """The driver, the browser and the tab of one worker process; for one job at a time.

    Ordinary jobs share one browser. A job of an account has a profile's browser opened beside it
    (`open_profile`), and pages, limits and evidence are of that one until it is closed.
    """

    def __init__(self, options: BrowserOptions, watchdog: Watchdog | None = None) -> None:
        self.guards = Guards(options, self.kill)
        self.options = options = self.guards.guarded(options)
        self.watchdog = watchdog or Watchdog()
        self.recorder = Recorder()
        self.recorder.is_blocked = self.guards.blockings.is_blocked
        self.live = LivePictures(self.guards)
        self.jobs_since_launch = 0
        # Says what the next job will wish of its context, if that is known.
        self.foresee: Callable[[], Wishes | None] = lambda: None
        # Told whenever the processes are others than before.
        self.on_launch: Callable[[], None] = lambda: None
        self._engine = engine_for(options, self.limit)
        self.way_out, self.browser_version = self._engine.way_out, self._engine.browser_version
        self.providers = Providers(options)
        self._tabs = Tabs(self._engine, self.recorder, self.guards, self._clean_up)
        self._current: Tab | None = None
        self.profile = ProfilePlace(
            self.providers, self._engine, self.limit, self._tabs.forget, self.recorder
        )
        self._proxy: Proxy | None = None
        self._rules = PageRules()
        if self.guards.robots is not None:
            self.guards.robots.page_beside = self._page_beside

    def open(self) -> None:
        """Start driver and browser in an emptied temporary folder; raises LaunchFailed."""
        self._engine.folder.wipe()
        self._launch()

    def use_proxy(self, proxy: Proxy | None) -> None:
        """Let the next ordinary page come from a fresh context with this proxy, or without."""
        if proxy != self._proxy:
            self._proxy = proxy
            self.renew_context()
            self._tabs.drop_spare()
        self._tabs.go_out_by(proxy)

    def renew_context(self) -> None:
        """Let the next ordinary page come from a fresh context, as after a block; never raises."""
        self.release(clean=False)
        self._tabs.renew()

    def open_profile(self, spec: ProfileSpec) -> None:
        """Open a profile's browser: until `close_profile`, pages come from there.

        The ordinary browser stays as it is. Raises ProviderError, or LaunchFailed when there is
        no driver or no Chromium; then no profile is open.
        """
        self.close_profile()
        self.release(clean=False)
        self.profile.open(spec)
        self.on_launch()

    def close_profile(self) -> None:
        """Close the open profile, if there is one, and stop its browser; never raises."""
        if self.profile.hold is None:
            return
        self.release(clean=False)
        self.profile.close(self._clean_up)
        self.on_launch()

    def page_for_job(
        self,
        *,
        isolation: Isolation = "context",
        task: str = "",
        trace: bool = False,
        rules: PageRules | None = None,
        wishes: Wishes = NONE,
    ) -> Page:
        """Give the page for one job, launching the browser again if it is dead.

        What it shares with jobs before is up to `isolation`; `"worker"` shares it with those of
        `task`. A profile has one context only, and of the wishes only what is blocked holds there.
        Raises LaunchFailed if no browser can be started, ProviderError if the open profile's is
        lost, PageRefused if the browser does not take the wishes.
        """
        self.release(clean=False)
        self._rules, problem = rules or PageRules(), ""
        if (hold := self.profile.hold) is not None:
            return self._handed_out(self._profile_page(hold, wishes, trace=trace))
        options = ContextOptions(self._proxy, self._rules.downloads, wishes)
        wish = self._tabs.wish(isolation, task, options)
        for _ in range(2):
            if not self.is_alive:
                self._launch(IN_JOB_SECONDS)
            try:
                return self._handed_out(self._ready_page(wish, trace=trace))
            except PlaywrightError as error:
                problem = first_line(error)
                with self.limit(PAGE_SECONDS):
                    self._tabs.blame_wishes(options, problem)
                self._forget_tabs()
                self._engine.drop_browser()
        raise self._engine.no_page(problem)

    def release(self, *, clean: bool) -> None:
        """Take the page back after a job; never raises.

        Its context goes too, unless the task's isolation keeps it and the job ended well (`clean`).
        A profile's context stays, and the pages that the job opened in it go.
        """
        tab, self._current = self._current, None
        self.live.end()
        if tab is None:
            return
        self.recorder.focus(None, None)
        # A job that never gets a page must not leave evidence of this one's.
        self.recorder.reset()
        if self.profile.hold is not None:
            self._tabs.close(tab)
        else:
            self._tabs.give_back(tab, clean=clean)
        if self.guards.end():
            self._stop(CLOSE_SECONDS)
            self._engine.folder.remove()

    def recycle(self) -> None:
        """Replace driver and browser by new ones, because both grow with every page."""
        self._stop(CLOSE_SECONDS)
        self.open()

    def rest(self) -> None:
        """End driver and browser until they are wanted again; never raises."""
        self._stop(CLOSE_SECONDS)
        self.on_launch()

    def close(self, budget_seconds: float = 10.0) -> None:
        """End everything within about the budget, politely first; never raises."""
        self._stop(budget_seconds)
        self.guards.close()
        self._engine.folder.remove()

    @property
    def tab(self) -> Tab | None:
        """The tab of the job that is running."""
        return self._current

    @property
    def page(self) -> Page | None:
        """The page of the job that is running."""
        return self._current.page if self._current is not None else None

    def hear_events(self) -> None:
        """Take in what the browser has said last, such as that the page crashed; never raises."""
        if self._current is not None:
            cleaning_step.carry_out(self.limit(EVENTS_SECONDS), self._current.hear_events)

    @property
    def is_alive(self) -> bool:
        """Whether driver and browser run; while a profile is open, its browser is meant."""
        if (hold := self.profile.hold) is not None:
            return self._engine.is_driver_alive and hold.is_alive
        return self._engine.is_browser_alive

    @property
    def remote(self) -> Browsers | None:
        """Where the browser in use comes from, if it runs elsewhere."""
        return self._engine.remote if self.profile.hold is None else None

    @property
    def proxy_label(self) -> str | None:
        """The proxy that pages go through, for evidence: without its credentials."""
        hold = self.profile.hold
        proxy = hold.spec.proxy if hold is not None else self._proxy
        return proxy.label if proxy is not None else None

    def processes(self) -> tuple[ProcessId | None, ProcessId | None]:
        """The driver, and the leader of Chromium's process group: an open local profile's first."""
        return self._engine.driver_id, self.profile.process or self._engine.browser_id

    def memory_mb(self) -> float:
        """The memory that driver and browser hold for themselves alone, in MiB."""
        return self._engine.memory_mb()

    def limit(self, seconds: float) -> Limit:
        """Bound a block: past the limit Chromium is killed, and three seconds later the driver.

        The blocked call then raises, or returns something empty: look at `fired` afterwards.
        """
        return self.watchdog.limit(seconds, self.kill, self.kill_driver)

    def kill(self) -> None:
        """Kill Chromium's process group, or stop the open profile's alone; from any thread."""
        if not self.profile.kill():
            self._engine.kill_ordinary()

    def kill_driver(self) -> None:
        """Kill every browser of ours and the driver; may be called from any thread."""
        self._engine.kill_driver()

    def _ready_page(self, wish: TabWish, *, trace: bool) -> Page:
        with self.limit(PAGE_SECONDS):
            tab = self._current = self._tabs.take(wish)
            self.guards.begin(tab.context, self._rules)
            page = tab.prepare(self.options.page_timeout_seconds, trace=trace)
            self.guards.begin_page(tab)
        self._tabs.prepare_next(tab, wish, self.foresee)
        return page

    def _profile_page(self, hold: ProfileHold, wishes: Wishes, *, trace: bool) -> Page:
        try:
            with self.limit(PAGE_SECONDS):
                tab = hold.new_tab(self.recorder, self.guards, self._rules, wishes.block)
                self._current = tab
                page = tab.prepare(self.options.page_timeout_seconds, trace=trace)
                self.guards.begin_page(tab)
                return page
        except PlaywrightError as error:
            raise hold.lost(error) from error

    def _page_beside(self, agent: str) -> AbstractContextManager[Page]:
        """Have a page beside the job's for a moment, by the same way out."""
        if (hold := self.profile.hold) is not None:
            return hold.page_beside(self.guards, self._clean_up)
        return self._tabs.page_beside(ContextOptions(self._proxy), agent)

    def _handed_out(self, page: Page) -> Page:
        self.jobs_since_launch += 1
        self.live.begin(self._current, self._engine.side_calls)
        return page

    def _launch(self, seconds: float | None = None) -> None:
        self._forget_tabs()
        self._engine.launch(self.recorder.mark_disconnected, seconds)
        self.jobs_since_launch = 0
        self.on_launch()

    def _forget_tabs(self) -> None:
        self.live.end()
        self._current = None
        self._tabs.forget()

    def _stop(self, budget_seconds: float) -> None:
        within = cleaning_step.within_budget(budget_seconds, CLOSE_SECONDS, self._driver_limit)
        if self._current is not None and self.is_alive:
            for step in self._current.closing_steps():
                within(step)
        self.profile.close(within)
        self._forget_tabs()
        self._engine.end(within)

    def _driver_limit(self, seconds: float) -> Limit:
        return self.watchdog.limit(seconds, self.kill_driver, self.kill_driver)

    def _clean_up(self, step: Callable[[], object]) -> bool:
        return cleaning_step.carry_out(self.limit(CLOSE_SECONDS), step)
