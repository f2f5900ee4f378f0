"""One context with its one page, as a job gets them.

A tab serves one job and is closed; who hands one on to another job (`page_reuse`, `context_reuse`)
answers for what it holds. `is_worn` says that it must not be handed on.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, CDPSession, Page
from playwright.sync_api import Error as PlaywrightError

from worker.browser.listening import listen_once
from worker.browser.recorder import Recorder


class Tab:
    """A context and its page, prepared for one job at a time."""

    def __init__(
        self,
        context: BrowserContext,
        recorder: Recorder,
        *,
        keeps_context: bool = False,
        has_devtools: bool = True,
    ) -> None:
        """Open a page in a context, which the tab then owns; `keeps_context`: a profile's.

        `has_devtools` says that the browser speaks Chromium's own protocol.
        """
        self.is_worn = False
        self.is_tracing = False
        # Whether it has left files: then it is closed before another job has files.
        self.has_files = False
        # What a job may have opened beside it.
        self.also_closes: Callable[[], list[Callable[[], object]]] = list
        self._recorder = recorder
        # Kept, because a task that starts a trace of its own is watched.
        self._start_trace = context.tracing.start
        self._keeps_context = keeps_context
        self.context: BrowserContext = context
        self._earlier_pages = list(context.pages)
        self.page: Page = context.new_page()
        recorder.listen(context, self.page)
        # Opened while the page is well: one that is opened on a busy page gets no answer.
        self._devtools = context.new_cdp_session(self.page) if has_devtools else None
        self.page.on("crash", self.wear)
        self.context.on("download", self._note_file)

    def prepare(self, timeout_seconds: float, *, trace: bool) -> Page:
        """Make the tab ready for a job: timeouts are reset, since a task may change them."""
        for target in (self.context, self.page):
            target.set_default_timeout(timeout_seconds * 1000)
            target.set_default_navigation_timeout(timeout_seconds * 1000)
        self._recorder.focus(self.context, self.page)
        self._recorder.reset()
        if trace:
            self.has_files = True
            self._start_trace(screenshots=True, snapshots=True)
            self.is_tracing = True
        return self.page

    def on_first_request(self, tell: Callable[[], None]) -> None:
        """Call this when the page asks the network for something: now the job waits for its site.

        It must not wait: other listeners of the request come after it.
        """
        listen_once(self.context, "request", tell)

    @property
    def devtools(self) -> CDPSession:
        """Chromium's own protocol, for this page; not to be asked for where there is none."""
        assert self._devtools is not None
        return self._devtools

    @property
    def has_devtools(self) -> bool:
        return self._devtools is not None

    @property
    def is_usable(self) -> bool:
        """Whether the page is there and well, as far as is known without asking."""
        return not (self.is_worn or self.page.is_closed())

    @property
    def is_plain(self) -> bool:
        """Whether the job has left nothing but its page: no popup, no download, no trace."""
        return self.is_usable and not self.has_files and len(self.context.pages) == 1

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
        """Give up the navigation that the page is waiting for, where that is possible."""
        if self._devtools is not None:
            self._devtools.send("Page.stopLoading")

    def stop_scripts(self) -> None:
        """End the script that the page is busy with, and let no other begin: likewise."""
        if self._devtools is not None:
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
            return [*self.also_closes(), *(page.close for page in pages)]
        # The page first: that ends its scripts with one message, a context needs several.
        return [self.page.close, self.context.close]

    def wear(self, *_: Any) -> None:
        """Note that the tab must not serve another job."""
        self.is_worn = True

    def _note_file(self, *_: Any) -> None:
        self.has_files = True
