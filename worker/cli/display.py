"""Show a run: a live display on a terminal, plain lines elsewhere, only problems if quiet.

What it shows is gathered by supervisor/figures.py, and the live display is in live_display.py. When
the terminal closes, the display ends and the run goes on.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections import deque
from collections.abc import Callable

from worker.cli.json_display import JsonDisplay
from worker.cli.wording import duration
from worker.evidence.terminal_text import one_line
from worker.settings import RunSettings
from worker.supervisor.view import Display, PoolView
from worker.system import standard_streams

PLAIN_SECONDS = 60.0
RATE_WINDOW_SECONDS = 60.0
# What makes Rich take any stream for a terminal.
FORCED_BY = ("FORCE_COLOR", "TTY_COMPATIBLE")

LOGGED = re.compile(r"\d\d:\d\d:\d\dZ ")


def make_display(settings: RunSettings, quiet: bool) -> Display:
    """Choose how to show the run."""
    if settings.log_format == "json":
        return LastingDisplay(lambda: JsonDisplay(quiet))
    if quiet:
        return LastingDisplay(QuietDisplay)
    if sys.stderr.isatty() or any(name in os.environ for name in FORCED_BY):
        # Rich takes long to import, and the workers wait: a run without a terminal goes without it.
        from worker.cli import live_display

        if (console := live_display.terminal()) is not None:
            return LastingDisplay(lambda: live_display.LiveDisplay(console, settings))
    return LastingDisplay(PlainDisplay)


class LastingDisplay:
    """Show the run until there is nowhere left to show it.

    When the terminal is closed (EIO) or nobody reads our stderr any more (EPIPE), the display ends
    and the run goes on.
    """

    def __init__(self, make: Callable[[], Display]) -> None:
        self.shown: Display = QuietDisplay()
        self._attempt(lambda: setattr(self, "shown", make()))

    def update(self, view: PoolView) -> None:
        self._attempt(lambda: self.shown.update(view))

    def line(self, who: str, text: str) -> None:
        self._attempt(lambda: self.shown.line(who, text))

    def say(self, text: str) -> None:
        self._attempt(lambda: self.shown.say(text))

    def close(self) -> None:
        self._attempt(self.shown.close)
        # What is printed on stdout after the run may have been meant for that terminal too.
        standard_streams.leave_closed_terminal()

    def _attempt(self, show: Callable[[], None]) -> None:
        try:
            show()
        except BlockingIOError:
            # Another process that shares our stderr made it non-blocking: this line may be lost.
            standard_streams.make_blocking()
        except OSError:
            standard_streams.silence(standard_streams.STDERR)
            standard_streams.leave_closed_terminal()
            self.shown = QuietDisplay()


class Rate:
    """Jobs per second over the last minute."""

    def __init__(self) -> None:
        self._points: deque[tuple[float, int]] = deque()

    def add(self, seconds: float, jobs: int) -> float:
        """Add a reading and return the rate."""
        self._points.append((seconds, jobs))
        while seconds - self._points[0][0] > RATE_WINDOW_SECONDS:
            self._points.popleft()
        began, before = self._points[0]
        return (jobs - before) / (seconds - began) if seconds > began else 0.0


class QuietDisplay:
    """Print only what went wrong."""

    def update(self, view: PoolView) -> None:
        pass

    def line(self, who: str, text: str) -> None:
        print(named(who, text), file=sys.stderr)

    def say(self, text: str) -> None:
        pass

    def close(self) -> None:
        pass


class PlainDisplay:
    """Print one line per minute, for logs and cron mail."""

    def __init__(self) -> None:
        self._rate = Rate()
        self._said_at = 0.0

    def update(self, view: PoolView) -> None:
        rate = self._rate.add(view.seconds, view.done + view.failed)
        if view.seconds - self._said_at < PLAIN_SECONDS:
            return
        self._said_at = view.seconds
        self.say(headline(view, rate))

    def line(self, who: str, text: str) -> None:
        print(named(who, text), file=sys.stderr)

    def say(self, text: str) -> None:
        at = time.strftime("%H:%M:%S", time.gmtime())
        print(f"{at}Z nightshift: {one_line(text)}", file=sys.stderr)

    def close(self) -> None:
        pass


def named(who: str, text: str) -> str:
    """Put the child's name before a line, unless it is a log line, which has the name already."""
    text = one_line(text)
    return text if LOGGED.match(text) else f"{who}: {text}"


def headline(view: PoolView, rate: float) -> str:
    parts = [f"{view.done:,} done", f"{view.failed:,} failed"]
    if view.auto_workers:
        parts.insert(0, str(view.auto_workers))
    if view.retried:
        parts.append(f"{view.retried:,} retried")
    if view.left is not None:
        parts.append(f"{view.left:,} left" + (f" ({view.waiting:,} waiting)" * bool(view.waiting)))
    parts.append(f"{rate:.1f}/s")
    if view.held_back:
        reason = f": {view.held_because}" if view.held_because else ""
        parts.append(f"{view.held_back:,} held back{reason}")
    # Jobs that wait for a time or are held back are not done at this rate.
    ready = (view.left or 0) - view.waiting - view.held_back
    if ready > 0 and rate > 0:
        parts.append(f"about {duration(ready / rate)} to go")
    if view.is_stopping:
        parts.append("stopping")
    if view.database_away_seconds > 1:
        parts.append(f"DATABASE AWAY for {duration(view.database_away_seconds)}")
    # A reason may name a site or a task, which strangers have named.
    return one_line(" · ".join(parts))
