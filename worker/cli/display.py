"""What a run looks like: a live picture on a terminal, plain lines elsewhere, nothing if quiet.

Never starts a thread: the supervisor's loop calls `update`, and that draws.
"""

from __future__ import annotations

import sys
import time
from collections import deque

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from worker.cli.wording import duration
from worker.settings import RunSettings
from worker.supervisor.view import Display, PoolView, WorkerView

REDRAW_SECONDS = 0.25
PLAIN_SECONDS = 60.0
RATE_WINDOW_SECONDS = 60.0


def make_display(settings: RunSettings, quiet: bool) -> Display:
    """Choose how to show the run."""
    if quiet:
        return QuietDisplay()
    console = Console(stderr=True)
    if console.is_terminal:
        return LiveDisplay(console, settings)
    return PlainDisplay()


class Rate:
    """Jobs per second over the last minute."""

    def __init__(self) -> None:
        self._points: deque[tuple[float, int]] = deque()

    def add(self, seconds: float, jobs: int) -> float:
        """Take a reading and return the rate."""
        self._points.append((seconds, jobs))
        while seconds - self._points[0][0] > RATE_WINDOW_SECONDS:
            self._points.popleft()
        began, before = self._points[0]
        return (jobs - before) / (seconds - began) if seconds > began else 0.0


class QuietDisplay:
    """Say only what went wrong."""

    def update(self, view: PoolView) -> None:
        pass

    def line(self, who: str, text: str) -> None:
        print(text, file=sys.stderr)

    def say(self, text: str) -> None:
        pass

    def close(self) -> None:
        pass


class PlainDisplay:
    """One line now and then, for logs and cron mails."""

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
        print(text, file=sys.stderr)

    def say(self, text: str) -> None:
        print(f"{time.strftime('%H:%M:%S', time.gmtime())}Z nightshift: {text}", file=sys.stderr)

    def close(self) -> None:
        pass


class LiveDisplay:
    """An overall bar with rate and time to go, and a line per worker with its job and its age."""

    def __init__(self, console: Console, settings: RunSettings) -> None:
        self._console = console
        self._rate = Rate()
        self._drawn_at = 0.0
        # Redirected streams would be inherited by workers, whose lines it would fold and frame.
        self._live = Live(
            console=console,
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._live.start()
        self.say(
            f"{settings.workers} workers, slots {settings.slots[0]}–{settings.slots[-1]} "
            f"of {settings.total}, on {settings.database}"
        )

    def update(self, view: PoolView) -> None:
        rate = self._rate.add(view.seconds, view.done + view.failed)
        if view.seconds - self._drawn_at < REDRAW_SECONDS:
            return
        self._drawn_at = view.seconds
        self._live.update(self._picture(view, rate), refresh=True)

    def line(self, who: str, text: str) -> None:
        self._console.print(Text(text), highlight=False, soft_wrap=True)

    def say(self, text: str) -> None:
        self._console.print(Text(text, style="bold"), highlight=False, soft_wrap=True)

    def close(self) -> None:
        self._live.stop()

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


def _headline(view: PoolView, rate: float) -> str:
    parts = [f"{view.done:,} done", f"{view.failed:,} failed"]
    if view.retried:
        parts.append(f"{view.retried:,} retried")
    if view.left is not None:
        parts.append(f"{view.left:,} left" + (f" ({view.waiting:,} waiting)" * bool(view.waiting)))
    parts.append(f"{rate:.1f}/s")
    if view.left and rate > 0:
        parts.append(f"about {duration(view.left / rate)} to go")
    if view.is_stopping:
        parts.append("stopping")
    if view.database_away_seconds > 1:
        parts.append(f"DATABASE AWAY for {duration(view.database_away_seconds)}")
    return " · ".join(parts)


def _worker_cells(worker: WorkerView) -> tuple[RenderableType, ...]:
    counts = f"{worker.done} done" + (f", {worker.failed} failed" if worker.failed else "")
    if not worker.job_id:
        return Text(str(worker.slot)), Text(worker.doing, style="dim"), Text(""), Text(counts)
    text = f"{worker.label}  {worker.step}".rstrip()
    age = duration(worker.age_seconds)
    return (
        Text(str(worker.slot)),
        Text(f"job {worker.job_id} {worker.doing} {age}"),
        Text(text, style="cyan"),
        Text(counts),
    )
