"""`launcher.py watch`: the status, kept true on the screen until Ctrl-C."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Protocol

import click
from rich.console import Console, Group
from rich.text import Text

from worker.cli import output
from worker.cli.connection import open_database
from worker.cli.frame import Frame
from worker.cli.options import DURATION
from worker.cli.output import tell, tell_all
from worker.cli.status import outlook_line, status_lines
from worker.cli.wording import duration
from worker.database.client import Database
from worker.errors import DatabaseUnavailable, UsageError
from worker.evidence.terminal_text import one_line
from worker.reporting.standing import Standing, standing

EVERY_SECONDS = 2.0
MIN_SECONDS = 0.1
# Looking may use this share of the time: counting a million jobs takes the server a while.
SHARE = 0.1


@click.command("watch")
@click.option(
    "--every",
    type=DURATION,
    default=EVERY_SECONDS,
    show_default="2s",
    help="How often to look; less often where looking takes long.",
)
def watch(every: float) -> None:
    """Keep the status on the screen until Ctrl-C.

    Off a terminal it prints one line for each change.
    """
    if every < MIN_SECONDS:
        raise UsageError(f"--every {every:g}: look at most every {MIN_SECONDS:g} s")
    with closing(open_database()) as db:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        view: View = Screen(every) if output.is_terminal() else Lines()
        try:
            for looked in _looks(db, every):
                view.show(looked)
        except KeyboardInterrupt:
            # That is how it ends.
            pass
        finally:
            view.close()


class View(Protocol):
    """Where each look is shown."""

    def show(self, looked: Standing | str) -> None:
        """Show how everything stands, or why that is not known."""

    def close(self) -> None:
        """Leave the terminal in order."""


class Screen:
    """The whole status, drawn over itself; what it showed last stays when it ends."""

    def __init__(self, every: float) -> None:
        # COLUMNS and LINES hold an old size of the window, not its size now.
        environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES")}
        self._frame = Frame(Console(_environ=environment))
        self._every = every
        self._lines: list[str] = []

    def show(self, looked: Standing | str) -> None:
        if isinstance(looked, str):
            # What was seen last stays on the screen.
            lines = [*self._lines, looked]
        else:
            lines = self._lines = list(status_lines(looked))
        foot = f"as of {_clock()} · every {duration(self._every)} · Ctrl-C ends"
        self._frame.draw(Group(*(_row(line) for line in lines), _row(foot, "dim")))

    def close(self) -> None:
        self._frame.close()
        tell_all(self._lines)


class Lines:
    """One line for each change, for files and pipes."""

    def __init__(self) -> None:
        self._told = ""

    def show(self, looked: Standing | str) -> None:
        line = looked if isinstance(looked, str) else _in_a_line(looked)
        if line != self._told:
            self._told = line
            tell(f"{_clock()}  {line}")

    def close(self) -> None:
        """There is nothing to put in order."""


def _looks(db: Database, every: float) -> Iterator[Standing | str]:
    while True:
        began = time.monotonic()
        try:
            yield standing(db)
        except DatabaseUnavailable as error:
            yield f"the database does not answer: {error}"
        took = time.monotonic() - began
        time.sleep(max(every - took, took / SHARE - took, 0.0))


def _in_a_line(now: Standing) -> str:
    parts = [f"{number:,} {name}" for name, number in now.jobs.items()]
    parts += ["PAUSED"] if now.paused is not None else []
    parts += [f"{now.held:,} held back"] if now.held else []
    parts += [f"run {run.run_id} {run.life}" for run in now.told] or ["nothing is running"]
    if now.alive:
        parts.append(f"{now.outlook.per_second:.1f} jobs/s")
    outlook = outlook_line(now)
    return ", ".join(parts) + (f"; {outlook}" if outlook else "")


def _row(line: str, style: str = "") -> Text:
    return Text(one_line(line), style=style, no_wrap=True, overflow="ellipsis")


def _clock() -> str:
    return time.strftime("%H:%M:%SZ", time.gmtime())


COMMANDS = [watch]
