"""The live display of a run on a terminal: a bar, and a line per worker.

It starts no thread: the supervisor's loop calls `update`, which draws. The only part of a run that
needs Rich, which takes long to import.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import NoReturn

from rich.console import Console, Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from worker.cli.display import LOGGED, Rate, headline, named
from worker.cli.frame import Frame
from worker.cli.wording import counted, duration
from worker.evidence.terminal_text import one_line
from worker.settings import RunSettings
from worker.supervisor.view import PoolView, WorkerView

REDRAW_SECONDS = 0.25
# Lines of one child per second. The stack of a stuck worker has 35.
MAX_LINES_PER_SECOND = 10


def terminal() -> Console | None:
    """Give the terminal that stderr is; None if it is none."""
    # COLUMNS and LINES hold an old size of the window, not its size now.
    environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES")}
    console = _Console(stderr=True, _environ=environment)
    return console if console.is_terminal else None


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
        if self._limit.admits(who if not LOGGED.match(text) else f"{who}, log"):
            self._frame.print_above(Text(named(who, text)))

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
        return Group(bar, Text(headline(view, rate)), table)


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
