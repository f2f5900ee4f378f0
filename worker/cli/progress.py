"""A progress bar over the bytes of a file, on a terminal only, and without a thread."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from worker.evidence.terminal_text import one_line

T = TypeVar("T")
REDRAW_SECONDS = 0.2


class CountProgress:
    """Show in one line how far something has come; without a terminal, show nothing."""

    def __init__(self) -> None:
        console = Console(stderr=True)
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            console=console,
            auto_refresh=False,
            transient=True,
            disable=not console.is_terminal,
        )
        self._line = self._progress.add_task("")
        self._drawn_at = 0.0

    def __enter__(self) -> CountProgress:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def show(self, text: Callable[[], str]) -> None:
        """Show a text, if it is time to."""
        if not self._progress.disable and time.monotonic() - self._drawn_at > REDRAW_SECONDS:
            self._drawn_at = time.monotonic()
            self._progress.update(self._line, description=one_line(text()), refresh=True)


class ByteProgress:
    """Show how far a file has been read; without a terminal, show nothing."""

    def __init__(self, name: str, total: int) -> None:
        console = Console(stderr=True)
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            DownloadColumn(),
            TimeRemainingColumn(),
            console=console,
            auto_refresh=False,
            transient=True,
            disable=not console.is_terminal,
        )
        self._bar = self._progress.add_task(one_line(name), total=total or None)

    def __enter__(self) -> ByteProgress:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def watch(self, items: Iterable[T], position: Callable[[], int]) -> Iterator[T]:
        """Pass the items through, moving the bar along."""
        if self._progress.disable:
            yield from items
            return
        drawn_at = 0.0
        for item in items:
            if time.monotonic() - drawn_at > REDRAW_SECONDS:
                drawn_at = time.monotonic()
                self._progress.update(self._bar, completed=position(), refresh=True)
            yield item
