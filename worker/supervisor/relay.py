"""What children print on its way to the display: a bounded amount per turn, each child in turn.

A child that prints without end is read as fast as the launcher can show it, and never keeps the
launcher from its other duties: it waits at its full pipe meanwhile.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Collection, Sequence

from worker.evidence.redaction import redact_text
from worker.evidence.terminal_text import printable
from worker.supervisor.output import LineReader
from worker.supervisor.slot import Slot
from worker.supervisor.view import Display

# 256 KB, and less if they take long to show.
TURN_READS = 16
TURN_SECONDS = 0.1


class Relay:
    """Reads the pipes of all slots, and the one that heart and courier share."""

    def __init__(self, display: Display, slots: Sequence[Slot], heart: LineReader) -> None:
        self._display = display
        self._slots = slots
        self._heart = heart
        self._turn = 0

    def filenos(self) -> list[int]:
        """What to wait on."""
        return [reader.fileno() for _, reader in self._sources()]

    def take_turn(self, ready: Collection[int]) -> None:
        """Show some of what has come on the pipes that are ready."""
        sources = deque(each for each in self._sources() if each[1].fileno() in ready)
        self._turn += 1
        sources.rotate(-self._turn)
        reads, until = TURN_READS, time.monotonic() + TURN_SECONDS
        while sources and reads and time.monotonic() < until:
            slot, reader = sources.popleft()
            if lines := reader.read():
                self._show(slot, lines)
                sources.append((slot, reader))
            reads -= 1

    def drain(self, slot: Slot | None) -> None:
        """Show the last lines of a child that has ended, and close its pipe.

        A process that it left behind may hold the pipe and go on printing: that is not waited for.
        """
        reader = self._heart if slot is None else slot.output
        if reader is None:
            return
        for _ in range(TURN_READS):
            if not (lines := reader.read()):
                break
            self._show(slot, lines)
        self._show(slot, reader.close())

    def _sources(self) -> list[tuple[Slot | None, LineReader]]:
        pipes = [(slot, slot.output) for slot in self._slots]
        return [
            (slot, pipe) for slot, pipe in [*pipes, (None, self._heart)] if pipe and pipe.is_open
        ]

    def _show(self, slot: Slot | None, lines: list[str]) -> None:
        for line in lines:
            # What a task or a page says is a stranger's text, also where it was not logged.
            text = redact_text(printable(line))
            self._display.line("heart" if slot is None else f"worker {slot.number}", text)
            if slot is not None:
                slot.last_lines.append(text)
