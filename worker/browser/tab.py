"""One context with its one page, handed from job to job while it stays as good as new.

A job that succeeded leaves a blank page without cookies or storage. What cannot be undone
(listeners, routes, scripts, popups, downloads, a trace) makes the tab worn: it is replaced.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, CDPSession, Page
from playwright.sync_api import Error as PlaywrightError

from worker.browser.recorder import Recorder

TIDY_SECONDS = 2.0

_LASTING_ON_BOTH = (
    "add_init_script", "expose_binding", "expose_function", "new_cdp_session", "on", "once",
    "route", "route_from_har", "route_web_socket", "set_extra_http_headers",
)  # fmt: skip
_LASTING_ON_PAGE = ("add_locator_handler", "emulate_media", "set_viewport_size")
_LASTING_ON_CONTEXT = ("set_geolocation", "set_offline", "grant_permissions")
_LASTING_ON_CLOCK = (
    "fast_forward", "install", "pause_at", "run_for", "set_fixed_time", "set_system_time",
)  # fmt: skip


class Tab:
    """A context and its page; `is_worn` says that they must not serve another job.

    Jobs of all tasks share it, because a page that is used again is up to three times as fast
    as a fresh one. Between jobs it is emptied, cookies, storage and all: a few milliseconds for
    the clearing and 15 for the blank page (measured), and every job starts alike.
    """

    def __init__(
        self, context: BrowserContext, recorder: Recorder, *, keeps_context: bool = False
    ) -> None:
        """Open a page in a context, which the tab then owns; `keeps_context`: a profile's."""
        self.is_worn = keeps_context
        self.is_tracing = False
        self._recorder = recorder
        self._keeps_context = keeps_context
        self.context: BrowserContext = context
        self._earlier_pages = list(context.pages)
        self.page: Page = context.new_page()
        recorder.listen(context, self.page)
        # Opened while the page is well: one that is opened on a busy page gets no answer.
        self._devtools: CDPSession = context.new_cdp_session(self.page)
        if keeps_context:
            return
        self.page.on("popup", self._wear)
        self.page.on("download", self._wear)
        self.page.on("crash", self._wear)
        self.context.on("page", self._wear)
        self._watch_lasting_changes()

    def prepare(self, timeout_seconds: float, *, trace: bool) -> Page:
        """Make the tab ready for a job: timeouts are reset, since a task may change them."""
        for target in (self.context, self.page):
            target.set_default_timeout(timeout_seconds * 1000)
            target.set_default_navigation_timeout(timeout_seconds * 1000)
        self._recorder.focus(self.context, self.page)
        self._recorder.reset()
        if trace:
            self.context.tracing.start(screenshots=True, snapshots=True)
            self.is_tracing = True
        return self.page

    def tidy(self) -> bool:
        """Empty page and storage after a job; False when the tab has to be replaced."""
        if self.is_worn or self.page.is_closed() or len(self.context.pages) != 1:
            return False
        try:
            # Leaving the page ends its scripts and requests before the next job starts.
            self.page.goto("about:blank", timeout=TIDY_SECONDS * 1000)
            # Cookies are among "all".
            self._devtools.send(
                "Storage.clearDataForOrigin", {"origin": "*", "storageTypes": "all"}
            )
        except PlaywrightError:
            return False
        return not self.is_worn

    def hear_events(self) -> None:
        """Take in what the browser said while nobody listened, as during a task's time.sleep().

        Events come while a call waits. This one needs no page, so a page that hangs or that is
        being traced does not hold it up.
        """
        try:
            self.context.cookies("http://localhost/")
        except PlaywrightError:
            # The browser is gone. What it said before has still arrived.
            pass

    def stop_loading(self) -> None:
        """Give up the navigation that the page is waiting for."""
        self._devtools.send("Page.stopLoading")

    def stop_scripts(self) -> None:
        """End the script that the page is busy with, and let no other begin."""
        self._devtools.send("Emulation.setScriptExecutionDisabled", {"value": True})
        self._devtools.send("Runtime.terminateExecution")

    def stop_trace(self, path: Path | None) -> None:
        """End the trace that is being recorded, and keep it as `path` or drop it.

        It is kept as it was recorded, with its secrets: `trace_file.py` takes them out.
        """
        if self.is_tracing:
            self.is_tracing = False
            self.context.tracing.stop(path=path)

    def closing_steps(self) -> list[Callable[[], object]]:
        """What ends the tab, in order: its pages, then the context if it is the tab's own."""
        pages = [page for page in self.context.pages if page not in self._earlier_pages]
        if self._keeps_context:
            return [page.close for page in pages]
        return [self.page.close, self.context.close]

    def _wear(self, *_: Any) -> None:
        self.is_worn = True

    def _watch_lasting_changes(self) -> None:
        watched: list[tuple[Any, tuple[str, ...]]] = [
            (self.page, _LASTING_ON_BOTH + _LASTING_ON_PAGE),
            (self.context, _LASTING_ON_BOTH + _LASTING_ON_CONTEXT),
            (self.context.clock, _LASTING_ON_CLOCK),
            (self.context.tracing, ("start",)),
        ]
        for target, names in watched:
            for name in names:
                if original := getattr(target, name, None):
                    setattr(target, name, self._wearing(original))

    def _wearing(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def call(*arguments: Any, **options: Any) -> Any:
            self.is_worn = True
            return original(*arguments, **options)

        return call
