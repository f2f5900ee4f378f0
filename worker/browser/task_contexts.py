"""Contexts that a task opens by itself, beside its page's: closed with its job."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Browser, BrowserContext


class TaskContexts:
    """Makes contexts for us, and keeps a list of those that others make in the same browser."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._make = browser.new_context
        self._foreign: list[BrowserContext] = []
        self._note("new_context", lambda context: context)
        self._note("new_page", lambda page: page.context)

    def is_of(self, browser: Browser) -> bool:
        """Whether it is this browser that is watched."""
        return browser is self._browser

    def make(self, **options: Any) -> BrowserContext:
        """Make a context that is ours."""
        return self._make(**options)

    def closing_steps(self) -> list[Callable[[], object]]:
        """What ends the foreign ones; then they are forgotten."""
        foreign, self._foreign = self._foreign, []
        return [context.close for context in foreign]

    def _note(self, name: str, context_of: Callable[[Any], BrowserContext]) -> None:
        original = getattr(self._browser, name)

        @functools.wraps(original)
        def call(*arguments: Any, **options: Any) -> Any:
            made = original(*arguments, **options)
            self._foreign.append(context_of(made))
            return made

        setattr(self._browser, name, call)
