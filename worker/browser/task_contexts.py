"""Contexts that a task opens by itself: kept to its job's rules, closed with its job."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from playwright.sync_api import Browser, BrowserContext

from worker.browser.guards import Guards


class TaskContexts:
    """Makes contexts for us, and keeps a list of those that others make in the same browser."""

    def __init__(
        self, browser: Browser, guards: Guards, defaults: Mapping[str, Any] | None = None
    ) -> None:
        """`defaults` are options that hold for every context unless its maker gives others."""
        self._browser = browser
        self._defaults = dict(defaults or {})
        self._guards = guards
        self._make = browser.new_context
        self._foreign: list[BrowserContext] = []
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
        return [context.close for context in foreign]

    def _follow(self, name: str, context_of: Callable[[Any], BrowserContext]) -> None:
        original = getattr(self._browser, name)

        @functools.wraps(original)
        def call(*arguments: Any, **options: Any) -> Any:
            wants_files = options.get("accept_downloads") is not False
            options["accept_downloads"] = wants_files and self._guards.pages.rules.downloads
            made = original(*arguments, **self._completed(options))
            context = context_of(made)
            self._foreign.append(context)
            has_proxy = options.get("proxy") is not None
            self._guards.watch_beside(context, self._browser, has_proxy=has_proxy)
            return made

        setattr(self._browser, name, call)

    def _completed(self, options: dict[str, Any]) -> dict[str, Any]:
        """Add the defaults; a screen belongs to its viewport, so the two are taken or left."""
        defaults = dict(self._defaults)
        if not options.keys().isdisjoint(("viewport", "screen", "no_viewport")):
            defaults = {k: v for k, v in defaults.items() if k not in ("viewport", "screen")}
        return defaults | options
