"""Pages without a network: the one page that was captured is shown again, and nothing else comes.

Requests are answered before they leave the browser. Should one get past that, the browser's only
way out is a port of this machine where nobody listens.
"""

from __future__ import annotations

import functools
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import BrowserContext, Page, Request, Route
from playwright.sync_api import Error as PlaywrightError

from worker.browser.page_rules import shown
from worker.evidence.captured_pages import CapturedPage
from worker.proxies.proxy import Proxy

CONTENT_TYPE = "text/html; charset=utf-8"


class OfflinePages:
    """Answers what the pages of one job ask for; `missing` tells which pages were not captured."""

    def __init__(self, dead_end: Proxy) -> None:
        self.dead_end = dead_end
        self.missing: list[str] = []
        self._captured: CapturedPage | None = None

    def show(self, captured: CapturedPage) -> None:
        """Show this page from now on."""
        self._captured = captured
        self.missing = []

    def watch(self, context: BrowserContext) -> None:
        """Answer for every page that this context will have; call it before the first."""
        context.route("**/*", self._answer)
        context.on("page", self._follow_redirects)

    def has_asked_past_us(self, problem: BaseException) -> bool:
        """Whether something was asked for past the pages, as by `page.request`."""
        return f"{self.dead_end.host}:{self.dead_end.port}" in str(problem)[:2000]

    def _answer(self, route: Route, request: Request) -> None:
        try:
            if not _is_for_page(request):
                route.abort("blockedbyclient")
            elif self._captured is not None and self._captured.answers(request.method, request.url):
                route.fulfill(
                    status=self._captured.status,
                    headers=self._captured.headers,
                    content_type=CONTENT_TYPE,
                    body=self._captured.html,
                )
            else:
                self.missing.append(shown(request.url))
                route.abort("internetdisconnected")
        except PlaywrightError:
            # The page is gone, and its request with it.
            pass

    def _follow_redirects(self, page: Page) -> None:
        """Let `goto` lead at once to where redirects led when the page was captured."""
        original: Callable[..., Any] = page.goto

        @functools.wraps(original)
        def goto(url: str, **options: Any) -> Any:
            captured = self._captured
            if captured is not None and isinstance(url, str) and captured.leads_from(url):
                url = captured.url
            return original(url, **options)

        page.goto = goto  # type: ignore[method-assign]


@contextmanager
def offline_pages() -> Iterator[OfflinePages]:
    """Have pages offline while the block runs.

    A route of a task's own that lets a request go on lets it come to us.
    """
    letting_go = Route.continue_
    with socket.socket() as held:
        # Bound, so that nobody else gets it, and never listening.
        held.bind(("127.0.0.1", 0))
        Route.continue_ = Route.fallback  # type: ignore[method-assign]
        try:
            yield OfflinePages(Proxy("http", "127.0.0.1", held.getsockname()[1], name="offline"))
        finally:
            Route.continue_ = letting_go  # type: ignore[method-assign]


def _is_for_page(request: Request) -> bool:
    """Whether a page itself is asked for, and not something on it or in one of its frames."""
    return request.is_navigation_request() and request.frame.parent_frame is None
