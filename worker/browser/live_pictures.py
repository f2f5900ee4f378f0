"""Small pictures of the running job's page, while somebody looks; nothing at all otherwise.

They are frames of a screencast, asked for and taken in beside the job, when one of its own calls
waits. Nothing waits for them, and none is a reason to fail: a page that hangs has no new one.
"""

from __future__ import annotations

import asyncio
import base64
import logging
import time
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Error as PlaywrightError

from worker.browser.guards import Guards
from worker.browser.side_calls import SideCalls
from worker.browser.tab import Tab

EVERY_SECONDS = 2.0
# How often to see whether somebody looks: that is one number in memory.
LOOK_SECONDS = 1.0
FIRST_SECONDS = 0.02
# A job that has just begun has nothing to show yet: its page is empty.
EMPTY_SECONDS = 1.0
FRAME = "Page.screencastFrame"
SIZE = {"format": "jpeg", "quality": 50, "maxWidth": 480, "maxHeight": 360}
TRACED = "no picture while a trace is recorded"
NOT_CHROMIUM = "pictures are taken in Chromium only"

logger = logging.getLogger("nightshift.worker")


class LivePictures:
    """The pictures of one worker: of one page at a time, one frame at a time."""

    def __init__(self, guards: Guards) -> None:
        # Both are set by whoever has somewhere to show them.
        self.is_wanted: Callable[[], bool] = lambda: False
        self.keep: Callable[[bytes, str], None] = lambda image, why: None
        self._guards = guards
        self._tab: Tab | None = None
        self._side_calls: SideCalls | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._taken_at = self._began_at = float("-inf")
        # What hears the frames of the tab, and whether one is on its way.
        self._hear: Callable[[Any], None] | None = None
        self._is_casting = False

    def begin(self, tab: Tab | None, side_calls: SideCalls | None) -> None:
        """Show the page of this tab from now on, to whoever looks; returns at once."""
        self.end()
        if tab is None or side_calls is None:
            return
        self._tab, self._side_calls, self._began_at = tab, side_calls, time.monotonic()
        is_due = self._began_at - self._taken_at >= EVERY_SECONDS
        seconds = FIRST_SECONDS if is_due and self.is_wanted() else LOOK_SECONDS
        self._timer = side_calls.later(seconds, self._look)

    def end(self) -> None:
        """Show the page no more: its job is over; asks the browser nothing that is waited for."""
        if self._timer is not None:
            self._timer.cancel()
        tab, side_calls, hear = self._tab, self._side_calls, self._hear
        is_casting, self._is_casting = self._is_casting, False
        self._tab = self._side_calls = self._timer = self._hear = None
        if tab is None or hear is None:
            return
        tab.devtools.remove_listener(FRAME, hear)
        if is_casting and side_calls is not None:
            # A tab that is kept must not go on casting for the next job.
            side_calls.plan(lambda: tab.devtools.send("Page.stopScreencast"))

    def _look(self) -> None:
        """See whether a picture is wanted now; the driver's event loop calls this."""
        tab, side_calls = self._tab, self._side_calls
        if tab is None or side_calls is None:
            return
        is_wanted = self.is_wanted()
        if is_wanted:
            side_calls.plan(lambda: self._take(tab))
        seconds = EVERY_SECONDS if is_wanted else LOOK_SECONDS
        self._timer = side_calls.later(seconds, self._look)

    def _take(self, tab: Tab) -> None:
        """Ask for a frame; the browser's own process answers, also for a page that hangs."""
        if tab is not self._tab or not tab.is_usable:
            return
        if tab.is_tracing or not tab.has_devtools:
            # Every frame would be in the trace; and only a Chromium casts any.
            self._show(b"", TRACED if tab.is_tracing else NOT_CHROMIUM)
            return
        if self._hear is None:
            self._hear = lambda frame: self._take_in(tab, frame)
            tab.devtools.on(FRAME, self._hear)
        if self._is_casting:
            # The last one has not come, or is of an empty page: the cast begins anew with one.
            tab.devtools.send("Page.stopScreencast")
        self._is_casting = True
        tab.devtools.send("Page.startScreencast", SIZE)

    def _take_in(self, tab: Tab, frame: dict[str, Any]) -> None:
        """Keep a frame and end the cast; this runs within the job's calls and raises nothing."""
        if tab is not self._tab or not self._is_casting:
            return
        try:
            if tab.page.url == "about:blank" and self._has_just_begun:
                tab.devtools.send("Page.screencastFrameAck", {"sessionId": frame["sessionId"]})
                return
            self._is_casting = False
            hidden = self._guards.why_hidden
            self._show(b"" if hidden else base64.b64decode(frame["data"]), hidden or "")
            tab.devtools.send("Page.stopScreencast")
        except (PlaywrightError, ValueError, KeyError) as problem:
            logger.debug("no picture of the page: %s", problem)

    @property
    def _has_just_begun(self) -> bool:
        return time.monotonic() - self._began_at < EMPTY_SECONDS

    def _show(self, image: bytes, why: str) -> None:
        self._taken_at = time.monotonic()
        try:
            self.keep(image, why)
        except OSError as problem:
            logger.debug("the picture of the page was not kept: %s", problem)
