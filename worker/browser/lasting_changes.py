"""Calls of a task that change its page or context for good, so that the next job would notice.

What can be undone (listeners, routes) is undone where a tab is kept for its own task; all else
makes it worn.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from playwright.sync_api import BrowserContext, Page

from worker.browser.tab import Tab

_UNDOABLE = ("on", "once", "route")
_LASTING_ON_BOTH = (
    "add_init_script", "expose_binding", "expose_function", "new_cdp_session", "route_from_har",
    "route_web_socket", "set_extra_http_headers",
)  # fmt: skip
_LASTING_ON_PAGE = ("add_locator_handler", "emulate_media", "set_viewport_size")
_LASTING_ON_CONTEXT = ("set_geolocation", "set_offline", "grant_permissions")
_LASTING_ON_CLOCK = (
    "fast_forward", "install", "pause_at", "run_for", "set_fixed_time", "set_system_time",
)  # fmt: skip


def wear_tab_by_changes(tab: Tab, *, but_undoable: bool = False) -> None:
    """Have a tab worn by any lasting change; `but_undoable`: except by those of `UndoList`."""
    both = _LASTING_ON_BOTH if but_undoable else _LASTING_ON_BOTH + _UNDOABLE
    watched: list[tuple[Any, tuple[str, ...]]] = [
        (tab.page, both + _LASTING_ON_PAGE),
        (tab.context, both + _LASTING_ON_CONTEXT),
        (tab.context.clock, _LASTING_ON_CLOCK),
        (tab.context.tracing, ("start", "start_har")),
        (tab.context.credentials, ("install", "create")),
        (tab.page.screencast, ("start",)),
        (tab.context.debugger, ("request_pause",)),
    ]
    for target, names in watched:
        for name in names:
            if getattr(target, name, None) is not None:
                before_each_call(target, name, tab.wear)


def before_each_call(target: Any, name: str, tell: Callable[..., object]) -> None:
    """Have `tell` called with the arguments of each call of a method, and before it."""
    original = getattr(target, name)

    @functools.wraps(original)
    def call(*arguments: Any, **options: Any) -> Any:
        tell(*arguments)
        return original(*arguments, **options)

    setattr(target, name, call)


class UndoList:
    """The listeners and routes of one job, to be taken away at its end."""

    def __init__(self, page: Page, context: BrowserContext) -> None:
        self._targets = (page, context)
        self._listeners: list[tuple[Any, Any, Any]] = []
        self._has_routes = False
        for target in self._targets:
            for name in ("on", "once"):
                before_each_call(target, name, functools.partial(self._note_listener, target))
            before_each_call(target, "route", self._note_route)

    def undo(self) -> None:
        """Take away what the job has put on; raises Playwright's Error."""
        listeners, self._listeners = self._listeners, []
        for target, event, handler in listeners:
            target.remove_listener(event, handler)
        if self._has_routes:
            for target in self._targets:
                target.unroute_all(behavior="ignoreErrors")
            self._has_routes = False

    def _note_listener(self, target: Any, event: Any, handler: Any) -> None:
        self._listeners.append((target, event, handler))

    def _note_route(self, *_: Any) -> None:
        self._has_routes = True
