"""The picture stands once on the screen, whatever is printed and however the window changes."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console
from rich.text import Text

from worker.cli.frame import Frame

PICTURE = Text("\n".join(["=" * 59, "headline", "-" * 59]))


class Screen:
    """A terminal that folds what is too long for it when it is made narrower, as most do."""

    def __init__(self, width: int) -> None:
        self.width = width
        # Every row with whether the next one is its continuation.
        self.rows: list[tuple[str, bool]] = [("", False)]
        self.row = 0

    def write(self, text: str) -> None:
        for part in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|\n|\r|[^\x1b\n\r]+", text):
            self._take(part)

    def _take(self, part: str) -> None:
        if part == "\n":
            self.row += 1
            if self.row == len(self.rows):
                self.rows.append(("", False))
        elif part.endswith("A") and part.startswith("\x1b"):
            self.row = max(0, self.row - int(part[2:-1]))
        elif part == "\x1b[2K":
            self.rows[self.row] = ("", False)
        elif part == "\r" or part.startswith("\x1b"):
            pass
        else:
            while len(part) > self.width:
                self.rows[self.row] = (part[: self.width], True)
                self._take("\n")
                part = part[self.width :]
            self.rows[self.row] = (part, False)

    def resize(self, width: int) -> None:
        lines, line, position = [], "", 0
        for index, (text, goes_on) in enumerate(self.rows):
            line += text
            if not goes_on:
                lines.append(line)
                line = ""
            if index == self.row:
                position = len(lines) - (not goes_on)
        self.width, self.rows = width, []
        for number, text in enumerate(lines):
            parts = [text[at : at + width] for at in range(0, len(text), width)] or [""]
            self.rows += [(part, part is not parts[-1]) for part in parts]
            if number == position:
                self.row = len(self.rows) - 1

    @property
    def text(self) -> list[str]:
        return [row for row, _ in self.rows if row]


class Window:
    """A console on such a screen."""

    def __init__(self) -> None:
        self._file = io.StringIO()
        self.screen = Screen(60)
        self.console = Console(file=self._file, force_terminal=True, width=60, height=30)
        self.frame = Frame(self.console)

    def look(self) -> list[str]:
        self.screen.write(self._file.getvalue())
        self._file.seek(0)
        self._file.truncate()
        return self.screen.text

    def resize(self, width: int) -> None:
        self.look()
        self.screen.resize(width)
        self.console.size = (width, 30)


@pytest.fixture
def window() -> Window:
    return Window()


def test_a_picture_is_drawn_over_the_one_before(window):
    window.frame.draw(PICTURE)
    window.frame.draw(Text("another"))

    assert window.look() == ["another"]


def test_messages_are_printed_above_the_picture(window):
    window.frame.draw(Text("picture"))
    window.frame.print_above(Text("one"))
    window.frame.print_above(Text("two"))

    assert window.look() == ["one", "two", "picture"]


@pytest.mark.parametrize("width", [50, 30, 20, 80])
def test_no_ghost_is_left_when_the_window_becomes_narrower_or_wider(window, width):
    window.frame.print_above(Text("a message"))
    window.frame.draw(PICTURE)
    window.resize(width)

    window.frame.draw(Text("after"))

    assert window.look() == ["a message", "after"]


def test_a_message_just_after_the_window_became_narrower_leaves_no_ghost_either(window):
    window.frame.draw(PICTURE)
    window.resize(30)
    window.frame.print_above(Text("a message"))
    window.frame.draw(Text("after"))

    assert "=" not in "".join(window.look())
    assert window.look() == ["a message", "after"]


def test_a_picture_higher_than_the_window_is_cut(window):
    window.frame.draw(Text("\n".join(map(str, range(100)))))

    assert len(window.look()) == 29


def test_closing_leaves_the_messages_alone(window):
    window.frame.draw(PICTURE)
    window.frame.print_above(Text("a message"))
    window.frame.close()

    assert window.look() == ["a message"]
