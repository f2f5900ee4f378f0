"""Show a run: a live display on a terminal, plain lines elsewhere, only problems if quiet.

What it shows is gathered by supervisor/figures.py. It starts no thread: the supervisor's loop calls
`update`, which draws. When the terminal closes, the display ends and the run goes on.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import NoReturn

from rich.console import Console, Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from worker.cli.frame import Frame
from worker.cli.json_display import JsonDisplay
from worker.cli.wording import counted, duration
from worker.evidence.terminal_text import one_line
from worker.settings import RunSettings
from worker.supervisor.view import Display, PoolView, WorkerView
from worker.system import standard_streams

REDRAW_SECONDS = 0.25
PLAIN_SECONDS = 60.0
RATE_WINDOW_SECONDS = 60.0
# Lines of one child per second on a live display. The stack of a stuck worker has 35.
MAX_LINES_PER_SECOND = 10

_LOGGED = re.compile(r"\d\d:\d\d:\d\dZ ")


def make_display(settings: RunSettings, quiet: bool) -> Display:
    """Choose how to show the run."""
    if settings.log_format == "json":
        return LastingDisplay(lambda: JsonDisplay(quiet))
    if quiet:
        return LastingDisplay(QuietDisplay)
    # COLUMNS and LINES hold an old size of the window, not its size now.
    environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES")}
    console = _Console(stderr=True, _environ=environment)
    if console.is_terminal:
        return LastingDisplay(lambda: LiveDisplay(console, settings))
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


class LineLimit:
    """Lets a few lines per second of each child through, and counts the others."""

    def __init__(self) -> None:
        self._began: dict[str, float] = {}
        self._lines: dict[str, int] = {}

    def admits(self, who: str) -> bool:
        """Count a line; tell whether to show it."""
        self._began.setdefault(who, time.monotonic())
        self._lines[who] = self._lines.get(who, 0) + 1
        return self._lines[who] <= MAX_LINES_PER_SECOND

    def notes(self) -> Iterator[str]:
        """Say how many lines each ended second left out, and begin a new one."""
        now = time.monotonic()
        for who in [who for who, began in self._began.items() if now - began >= 1.0]:
            del self._began[who]
            left_out = self._lines.pop(who) - MAX_LINES_PER_SECOND
            if left_out > 0:
                yield f"{who}: … and {left_out:,} more line{'s' * (left_out != 1)}"


class QuietDisplay:
    """Print only what went wrong."""

    def update(self, view: PoolView) -> None:
        pass

    def line(self, who: str, text: str) -> None:
        print(_named(who, text), file=sys.stderr)

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
        self.say(_headline(view, rate))

    def line(self, who: str, text: str) -> None:
        print(_named(who, text), file=sys.stderr)

    def say(self, text: str) -> None:
        at = time.strftime("%H:%M:%S", time.gmtime())
        print(f"{at}Z nightshift: {one_line(text)}", file=sys.stderr)

    def close(self) -> None:
        pass


class LiveDisplay:
    """Draw a bar with rate and time left, and a line per worker with its job and the job's age."""

    def __init__(self, console: Console, settings: RunSettings) -> None:
        self._rate = Rate()
        self._drawn_at = 0.0
        self._limit = LineLimit()
        self._frame = Frame(console)
        number = "up to " * settings.finds_number + counted(settings.workers, "worker")
        self.say(f"{number}, {_slots(settings)}, on {settings.database}")

    def update(self, view: PoolView) -> None:
        rate = self._rate.add(view.seconds, view.done + view.failed)
        if view.seconds - self._drawn_at < REDRAW_SECONDS:
            return
        self._drawn_at = view.seconds
        for note in self._limit.notes():
            self._frame.print_above(Text(note, style="dim"))
        self._frame.draw(self._picture(view, rate))

    def line(self, who: str, text: str) -> None:
        # Log lines have a limit of their own, so that a task's prints do not crowd them out.
        if self._limit.admits(who if not _LOGGED.match(text) else f"{who}, log"):
            self._frame.print_above(Text(_named(who, text)))

    def say(self, text: str) -> None:
        self._frame.print_above(Text(one_line(text), style="bold"))

    def close(self) -> None:
        self._frame.close()

    def _picture(self, view: PoolView, rate: float) -> RenderableType:
        ended = view.done + view.failed
        bar = Table.grid(expand=True)
        bar.add_row(ProgressBar(total=max(ended + (view.left or 0), 1), completed=ended))
        table = Table.grid(padding=(0, 2), expand=True)
        table.add_column(justify="right", no_wrap=True)
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True, ratio=1, overflow="ellipsis")
        table.add_column(justify="right", no_wrap=True)
        for worker in view.workers:
            table.add_row(*_worker_cells(worker))
        return Group(bar, Text(_headline(view, rate)), table)


class _Console(Console):
    def on_broken_pipe(self) -> NoReturn:
        # Rich would end the whole run here.
        raise BrokenPipeError("nobody reads stderr any more")


def _slots(settings: RunSettings) -> str:
    own = settings.own_slots
    if settings.shares_slots:
        return "slots as they are free"
    if settings.finds_number:
        return "as many as pay"
    name = f"slot {own[0]}" if len(own) == 1 else f"slots {own[0]}–{own[-1]}"
    return f"{name} of {settings.total}"


def _named(who: str, text: str) -> str:
    """Put the child's name before a line, unless it is a log line, which has the name already."""
    text = one_line(text)
    return text if _LOGGED.match(text) else f"{who}: {text}"


def _headline(view: PoolView, rate: float) -> str:
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


def _worker_cells(worker: WorkerView) -> tuple[RenderableType, ...]:
    counts = f"{worker.done} done" + (f", {worker.failed} failed" if worker.failed else "")
    slot = "–" if worker.slot is None else str(worker.slot)
    if not worker.is_busy:
        return Text(slot), Text(worker.doing, style="dim"), Text(""), Text(counts)
    text = one_line(f"{worker.label}  {worker.step}".rstrip())
    age = duration(worker.age_seconds)
    return (
        Text(slot),
        Text(f"job {worker.job_id} {worker.doing} {age}"),
        Text(text, style="cyan"),
        Text(counts),
    )
