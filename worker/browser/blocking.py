"""Keep a context's pages from loading what is blocked: kinds of files, and hosts.

It is a route of Playwright's on the context: it holds in frames, popups and workers, after the
task's own routes. Where only hosts are blocked, the driver lets all else pass by itself. A kind of
file is seen here only, so every request is asked for here. Without patterns there is no route.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence

from playwright.sync_api import BrowserContext, Page, Request, Route
from playwright.sync_api import Error as PlaywrightError

from worker.block_patterns import kinds_of, regex_of_hosts
from worker.browser.page_rules import shown
from worker.errors import PageRefused

CODE = "ERR_BLOCKED_BY_CLIENT"


class Blocking:
    """What one context does not load."""

    def __init__(self, target: BrowserContext | Page, patterns: Sequence[str]) -> None:
        self.patterns = patterns
        self._kinds = kinds_of(patterns)
        self._hosts = regex_of_hosts(patterns)
        self._url = "**/*" if self._hosts is None or self._kinds else self._hosts
        # As they are now: a task's own calls are watched, and these are no task's.
        self._route, self._unroute = target.route, target.unroute

    def put_on(self) -> None:
        """Begin, or go on after a task has taken all routes away; raises Playwright's Error."""
        self.take_off()
        self._route(self._url, self._answer)

    def take_off(self) -> None:
        """End; raises Playwright's Error."""
        self._unroute(self._url, self._answer)

    def blocks(self, url: str, kind: str) -> bool:
        """Whether a request to this address, of this kind, is one of those."""
        return kind in self._kinds or self.blocks_host(url)

    def blocks_host(self, url: str) -> bool:
        """Whether nothing is loaded from where this address is."""
        return self._hosts is not None and self._hosts.match(url) is not None

    def _answer(self, route: Route) -> None:
        request = route.request
        try:
            if self.blocks(request.url, request.resource_type):
                route.abort("blockedbyclient")
            else:
                route.fallback()
        except PlaywrightError:
            # The page is gone, and its request with it.
            pass


class Blockings:
    """The blockings of one worker's contexts; most have none."""

    def __init__(self) -> None:
        self._of: weakref.WeakKeyDictionary[BrowserContext, Blocking] = weakref.WeakKeyDictionary()

    def put_on(
        self, context: BrowserContext, patterns: Sequence[str], *, page: Page | None = None
    ) -> None:
        """Keep a context, or only one page of it, from loading what is blocked.

        Raises Playwright's Error. Without patterns it loads everything, as before.
        """
        self.take_off(context)
        if patterns:
            blocking = self._of[context] = Blocking(page or context, patterns)
            blocking.put_on()

    def put_on_beside(self, context: BrowserContext, of_job: BrowserContext) -> None:
        """Keep a context that a job opens by itself to what is blocked in the job's own."""
        if (blocking := self._of.get(of_job)) is not None:
            self.put_on(context, blocking.patterns)

    def renew(self, context: BrowserContext) -> None:
        """Hold on in a context that is kept, whatever the job before has done to its routes."""
        if (blocking := self._of.get(context)) is not None:
            blocking.put_on()

    def take_off(self, context: BrowserContext) -> None:
        """Let a context load everything again; raises Playwright's Error."""
        if (blocking := self._of.pop(context, None)) is not None:
            blocking.take_off()

    def is_blocked(self, context: BrowserContext | None, request: Request) -> bool:
        """Whether it is of this that a request has failed."""
        blocking = self._of.get(context) if context is not None else None
        return (
            blocking is not None
            and CODE in (request.failure or "")
            and blocking.blocks(request.url, request.resource_type)
        )

    def explain(
        self, context: BrowserContext, problem: BaseException | None, url: str | None
    ) -> PageRefused | None:
        """Say so if a page was not opened because its own address is blocked."""
        blocking = self._of.get(context)
        if blocking is None or url is None or not isinstance(problem, PlaywrightError):
            return None
        if CODE not in str(problem)[:1000] or not blocking.blocks_host(url):
            return None
        return PageRefused(
            f"{shown(url)} is among what this job blocks ({', '.join(blocking.patterns):.200}); "
            f"take its host out of `block`"
        )
