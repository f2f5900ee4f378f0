"""A picture at the bottom of a terminal that is drawn over itself, with lines printed above it.

After every print it stands where it stood, whole and once, also when the window's size changes:
what a narrower window has folded is counted and wiped.
"""

from __future__ import annotations

import math

from rich.console import Console, RenderableType
from rich.control import Control
from rich.segment import ControlType, Segment, Segments
from rich.text import Text

# What one message may take of the screen.
MAX_MESSAGE_ROWS = 3


class Frame:
    """Draws one picture at a time; `close` leaves the terminal without it."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._lines: list[list[Segment]] = []
        self._console.show_cursor(False)

    def draw(self, picture: RenderableType) -> None:
        """Replace the picture."""
        with self._console:
            self._wipe()
            self._lines = self._render(picture)
            self._put()

    def print_above(self, message: Text) -> None:
        """Print a message, cut to a few rows, and draw the picture again below it."""
        message.truncate(MAX_MESSAGE_ROWS * self._console.width, overflow="ellipsis")
        with self._console:
            self._wipe()
            self._console.print(message, highlight=False, soft_wrap=True)
            self._put()

    def close(self) -> None:
        """Leave the terminal as it was."""
        with self._console:
            self._wipe()
            self._lines = []
            self._console.show_cursor(True)

    def _render(self, picture: RenderableType) -> list[list[Segment]]:
        # The last column stays free: terminals differ in what they do with a full line.
        width, height = self._console.size
        options = self._console.options.update(width=max(width - 1, 1))
        lines = self._console.render_lines(picture, options, pad=False)
        return lines[: max(height - 1, 1)]

    def _put(self) -> None:
        segments: list[Segment] = []
        for line in self._lines:
            segments += [Segment.line(), *line] if segments else line
        if segments:
            self._console.print(Segments(segments), end="", soft_wrap=True)

    def _wipe(self) -> None:
        """Wipe the rows the picture takes now; the cursor stands in the last of them."""
        if not self._lines:
            return
        width, height = self._console.size
        rows = sum(math.ceil(max(Segment.get_line_length(line), 1) / width) for line in self._lines)
        wipe, up = (ControlType.ERASE_IN_LINE, 2), (ControlType.CURSOR_UP, 1)
        above = [up, wipe] * (min(rows, height) - 1)
        self._console.control(Control(ControlType.CARRIAGE_RETURN, wipe, *above))
