"""All that keeps a job's pages within bounds: their rules, the addresses, the disk.

One for each session. It says after a job what was refused; what becomes of the job then is decided
elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from playwright.sync_api import Browser, BrowserContext, Page

from worker.browser.blocking import Blockings
from worker.browser.disk_budget import DiskBudget
from worker.browser.options import BrowserOptions
from worker.browser.page_guard import PageGuard
from worker.browser.page_rules import PageRules
from worker.browser.private_addresses import PrivateAddresses
from worker.browser.recorder import Recorder
from worker.browser.robots import Robots
from worker.browser.tab import Tab
from worker.browser.way_out import NO_UDP


class Guards:
    """The guards of one worker's pages, for one job at a time."""

    def __init__(self, options: BrowserOptions, kill: Callable[[], None]) -> None:
        self.pages = PageGuard()
        self.blockings = Blockings()
        self.disk = DiskBudget(options.tmp_dir, options.job_disk_mb, kill)
        self._addresses = PrivateAddresses() if options.deny_private else None
        # Then no context goes out by a way of ours.
        self._is_elsewhere = options.elsewhere is not None
        self.robots = Robots() if options.respect_robots else None
        self._context: BrowserContext | None = None
        # Told of every context before it has a page.
        self.on_context: Callable[[BrowserContext], None] = lambda context: None
        if self.robots is not None:
            self.pages.before_goto = self.robots.check

    def guarded(self, options: BrowserOptions) -> BrowserOptions:
        """Return the options with which a browser that is ours has to be started."""
        if self._addresses is None:
            return options
        arguments = (*options.launch_args, NO_UDP)
        return replace(options, way_out=self._addresses.way_out, launch_args=arguments)

    def watch(self, context: BrowserContext, browser: Browser, *, has_proxy: bool) -> None:
        """Keep every page that a context will have to the rules; call it before the first.

        `has_proxy` says that the context does not go out by the browser's own way.
        """
        self.pages.watch(context)
        if self._addresses is not None and (has_proxy or self._is_elsewhere):
            self._addresses.watch_browser(browser)
        self.on_context(context)

    def watch_beside(self, context: BrowserContext, browser: Browser, *, has_proxy: bool) -> None:
        """Keep a context that the running job has opened by itself to the job's rules."""
        if self._context is not None:
            self.pages.watch_beside(context, self._context)
            self.blockings.put_on_beside(context, self._context)
        self.watch(context, browser, has_proxy=has_proxy)

    def watch_profile(self, page: Page, *, has_own_way_out: bool) -> None:
        """Keep a profile's page to the rules, in a browser that was not made for the job."""
        self.pages.refuse_downloads(page)
        if self._addresses is not None and has_own_way_out:
            self._addresses.watch_page(page)

    def begin(self, context: BrowserContext, rules: PageRules) -> None:
        """Go by the rules of the job that gets a page in this context now."""
        self._context = context
        self.pages.begin(context, rules)
        self.disk.begin()

    def begin_page(self, tab: Tab) -> None:
        """Look where the job's own page goes, if that is to be asked."""
        if self.robots is not None:
            self.robots.begin(tab)

    def end(self) -> bool:
        """Note that the job's page is taken back; tell whether all its files have to go."""
        self.disk.end()
        self._context = None
        has_too_much, self.disk.exceeded = self.disk.exceeded is not None, None
        return has_too_much

    @property
    def why_hidden(self) -> str | None:
        """Why nothing that the job's pages showed may be kept; None when it may."""
        return self.pages.why_hidden(self._context) if self._context is not None else None

    def close(self) -> None:
        """End what the guards have running."""
        self.disk.close()
        if self._addresses is not None:
            self._addresses.close()

    def explain(self, problem: BaseException | None, recorder: Recorder) -> BaseException | None:
        """Say what a job really failed of, if that was a guard's doing: the first that applies."""
        if self._context is None:
            return None
        if self.disk.exceeded is not None:
            return self.disk.exceeded
        if self.robots is not None and (refused := self.robots.explain(problem)) is not None:
            return refused
        refusal = self.pages.judge(self._context, problem) or self.blockings.explain(
            self._context, problem, recorder.main_failure
        )
        if refusal is None and self._addresses is not None:
            return self._addresses.explain(problem, recorder.main_failure)
        return refusal
