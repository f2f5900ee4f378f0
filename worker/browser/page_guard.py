"""Keep a job's pages to their rules: what they may not open is refused before it is asked for.

Chromium itself lets no web page lead to `file:` or `chrome:`, be it by a link, a frame, a popup or
a redirect; Playwright's `goto` may go anywhere, so it is checked here. Should a page get there all
the same, its job fails: result, picture and HTML are not kept.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import BrowserContext, Download, Frame, Page
from playwright.sync_api import Error as PlaywrightError

from worker.browser.listening import listen
from worker.browser.page_rules import SCHEMES, PageRules, shown
from worker.errors import PageRefused

# Chromium's word for a redirect from the web to this machine's files or to the browser's insides.
_UNSAFE_REDIRECT = "net::ERR_UNSAFE_REDIRECT"
# Playwright's words for a page that turned out to be a file, and for one that was not kept.
_DOWNLOAD_WORDS = ("Download is starting", "accept_downloads=True")


@dataclass(slots=True)
class _Notes:
    """What was seen of one context during one job."""

    breach: str | None = None
    download: str | None = None


class PageGuard:
    """Watches the contexts of one worker, by the rules of the job that runs."""

    def __init__(self) -> None:
        self.rules = PageRules()
        # Asked before a page goes somewhere; raises when it may not.
        self.before_goto: Callable[[str], None] = lambda url: None
        self._notes: weakref.WeakKeyDictionary[BrowserContext, _Notes] = weakref.WeakKeyDictionary()

    def watch(self, context: BrowserContext) -> None:
        """Keep every page that this context will have to the rules.

        Of those that it has already, as a profile may, only what a task does with them is checked:
        where they are is not this job's doing.
        """
        if context not in self._notes:
            self._watch(context, _Notes())
            for page in context.pages:
                self._check_page(page)

    def watch_beside(self, context: BrowserContext, of_job: BrowserContext) -> None:
        """Keep a new context to the rules; what is seen of it counts for another one's job."""
        notes = self._notes.setdefault(of_job, _Notes())
        self._watch(context, notes)
        for page in context.pages:
            self._watch_page(page, notes)

    def begin(self, context: BrowserContext, rules: PageRules) -> None:
        """Forget what an earlier job did in a context, and go by another one's rules."""
        self.rules = rules
        notes = self._notes.setdefault(context, _Notes())
        notes.breach = notes.download = None

    def refuse_downloads(self, page: Page) -> None:
        """Let a browser that was not made for the job keep no file, unless its rules allow them.

        It is the page's own wish and ends with it: the browser may be another's.
        """
        if not self.rules.downloads:
            devtools = page.context.new_cdp_session(page)
            devtools.send("Browser.setDownloadBehavior", {"behavior": "deny"})

    def judge(self, context: BrowserContext, problem: BaseException | None) -> PageRefused | None:
        """Say what the rules have to do with how a job went; None when nothing."""
        notes = self._notes.get(context) or _Notes()
        if notes.breach is not None:
            return PageRefused(notes.breach)
        text = str(problem)[:1000] if isinstance(problem, PlaywrightError) else ""
        if _UNSAFE_REDIRECT in text:
            return PageRefused(
                "the site redirects to an address that is not opened: pages may go to "
                f"{', '.join(SCHEMES)} and about:blank"
            )
        if not self.rules.downloads and any(words in text for words in _DOWNLOAD_WORDS):
            what = notes.download or "the page is a file to download"
            return PageRefused(
                f"{what}; downloads are refused unless the task says @task(…, downloads=True)"
            )
        return None

    def why_hidden(self, context: BrowserContext) -> str | None:
        """Say why nothing that a job's pages showed may be kept; asks the browser nothing."""
        notes = self._notes.get(context)
        is_breached = notes is not None and notes.breach is not None
        return "a page was where pages may not be" if is_breached else None

    def _watch(self, context: BrowserContext, notes: _Notes) -> None:
        self._notes[context] = notes
        context.on("page", lambda page: self._watch_page(page, notes))

    def _watch_page(self, page: Page, notes: _Notes) -> None:
        def note_place(frame: Frame) -> None:
            if (reason := self.rules.why_not(frame.url)) is not None:
                notes.breach = notes.breach or reason

        def note_download(download: Download) -> None:
            notes.download = f"{shown(download.url)} is a file to download"

        listen(page, "framenavigated", note_place)
        page.on("download", note_download)
        self._check_page(page)

    def _check_page(self, page: Page) -> None:
        listen(page, "frameattached", self._check_goto)
        self._check_goto(page)
        for frame in page.frames:
            self._check_goto(frame)

    def _check_goto(self, target: Page | Frame) -> None:
        original: Callable[..., Any] = target.goto

        @functools.wraps(original)
        def goto(url: str, **options: Any) -> Any:
            if isinstance(url, str):
                if (reason := self.rules.why_not(url)) is not None:
                    raise PageRefused(reason)
                self.before_goto(url)
            return original(url, **options)

        target.goto = goto  # type: ignore[method-assign]
