"""The pages that a task opens in contexts of its own: a failure's evidence shows the one it used.

A task that fails closes them on its way out, by `with` or `finally`. That is put off until the job
is over, since there would be nothing left to show.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from playwright.sync_api import BrowserContext, Frame, Page
from playwright.sync_api import Error as PlaywrightError

# What is written when a context is closed, so that it is closed when the task says so.
WRITTEN_AT_THE_END = ("record_har_path", "record_video_dir")


class OwnPages:
    """Notes which of them has gone somewhere last; for one job at a time."""

    def __init__(self) -> None:
        self._last: Page | None = None
        self._put_off: list[Callable[[], object]] = []

    @property
    def last(self) -> Page | None:
        """The one that has gone somewhere last, if it is there and the job's page has not since."""
        page = self._last
        return None if page is None or page.is_closed() else page

    def forget(self) -> None:
        """Note that the job's page has gone somewhere, or that the job is over."""
        self._last = None

    def follow(self, context: BrowserContext, options: dict[str, Any]) -> None:
        """Follow what a task does with a context that it has made with these options."""
        self.close_put_off()
        stays = not any(options.get(name) for name in WRITTEN_AT_THE_END)
        if stays:
            self._put_off_closing(context)
        for page in context.pages:
            self._follow_page(page, stays=stays)
        original = context.new_page

        @functools.wraps(original)
        def new_page() -> Page:
            self.close_put_off()
            page = original()
            self._follow_page(page, stays=stays)
            return page

        context.new_page = new_page  # type: ignore[method-assign]

    def close_put_off(self) -> None:
        """Close what a task has closed while an exception was on its way: it went on after it."""
        put_off, self._put_off = self._put_off, []
        for close in put_off:
            try:
                close()
            except PlaywrightError:
                # Its context is gone, and it with that.
                pass

    def end(self) -> None:
        """Think no more of any: whoever calls closes their contexts."""
        self._put_off.clear()
        self.forget()

    def _follow_page(self, page: Page, *, stays: bool) -> None:
        if stays:
            self._put_off_closing(page)

        def note(frame: Frame) -> None:
            if frame.parent_frame is None:
                self._last = page

        page.on("framenavigated", note)

    def _put_off_closing(self, target: BrowserContext | Page) -> None:
        original: Callable[..., None] = target.close
        # A task may work in an `except` of its own: what is handled there already ends nothing.
        handled = id(sys.exception())

        @functools.wraps(original)
        def close(**options: Any) -> None:
            if id(sys.exception()) == handled:
                original(**options)
            else:
                self._put_off.append(functools.partial(original, **options))

        target.close = close  # type: ignore[method-assign]
