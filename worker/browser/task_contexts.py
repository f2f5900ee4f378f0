"""Contexts that a task opens by itself: kept to its job's rules and proxy, closed with its job."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from playwright.sync_api import Browser, BrowserContext

from worker.browser.guards import Guards
from worker.browser.recorder import Recorder
from worker.errors import PageRefused
from worker.proxies.proxy import Proxy


class TaskContexts:
    """Makes contexts for us, and keeps a list of those that others make in the same browser."""

    def __init__(
        self,
        browser: Browser,
        guards: Guards,
        recorder: Recorder,
        proxy_of_job: Callable[[], Proxy | None],
        defaults: Mapping[str, Any] | None = None,
    ) -> None:
        """`defaults` are options that hold for every context unless its maker gives others."""
        self._browser = browser
        self._defaults = dict(defaults or {})
        self._guards = guards
        self._recorder = recorder
        self._proxy_of_job = proxy_of_job
        self._make = browser.new_context
        self._foreign: list[Callable[[], object]] = []
        self._follow("new_context", lambda context: context)
        # Its page is still blank when we get it: nothing has gone past the guards.
        self._follow("new_page", lambda page: page.context)

    def is_of(self, browser: Browser) -> bool:
        """Whether it is this browser that is watched."""
        return browser is self._browser

    def make(self, **options: Any) -> BrowserContext:
        """Make a context that is ours."""
        return self._make(**{**self._defaults, **options})

    def closing_steps(self) -> list[Callable[[], object]]:
        """What ends the foreign ones; then they are forgotten."""
        foreign, self._foreign = self._foreign, []
        self._recorder.own_pages.end()
        return foreign

    def _follow(self, name: str, context_of: Callable[[Any], BrowserContext]) -> None:
        original = getattr(self._browser, name)

        @functools.wraps(original)
        def call(*arguments: Any, **options: Any) -> Any:
            wants_files = options.get("accept_downloads") is not False
            options["accept_downloads"] = wants_files and self._guards.pages.rules.downloads
            options["proxy"] = self._way_out(options.get("proxy"))
            made = original(*arguments, **self._completed(options))
            context = context_of(made)
            self._foreign.append(context.close)
            has_proxy = options.get("proxy") is not None
            self._guards.watch_beside(context, self._browser, has_proxy=has_proxy)
            self._recorder.listen_beside(context)
            self._recorder.own_pages.follow(context, options)
            return made

        setattr(self._browser, name, call)

    def _completed(self, options: dict[str, Any]) -> dict[str, Any]:
        """Add the defaults; a screen belongs to its viewport, so the two are taken or left."""
        defaults = dict(self._defaults)
        if not options.keys().isdisjoint(("viewport", "screen", "no_viewport")):
            defaults = {k: v for k, v in defaults.items() if k not in ("viewport", "screen")}
        return defaults | options

    def _way_out(self, wanted: Any) -> Any:
        """Give a context its job's proxy; raises PageRefused for another, or a way past it."""
        if (proxy := self._proxy_of_job()) is None:
            return wanted
        own = proxy.as_playwright()
        if wanted and (wanted.get("server") != own["server"] or wanted.get("bypass")):
            raise PageRefused(
                "a context that a task opens goes out through its job's proxy, "
                f"{proxy.label}; leave out `proxy`"
            )
        return own
