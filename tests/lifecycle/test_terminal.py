"""What a run looks like on a terminal: alive while it lasts, tidy when it ends."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import signal
import struct
import termios
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.lifecycle.conftest import wait_until

# Wide enough for the longest line, so that only what is broken by mistake is broken.
ROWS, COLUMNS = 30, 600
HIDE_CURSOR, SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"
COLOUR = re.compile(r"\x1b\[(?:[0-9;]*;)?(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])[;m]")


class Terminal:
    """The far side of a terminal: what has been drawn on it."""

    def __init__(self) -> None:
        self._near, self.far = pty.openpty()
        fcntl.ioctl(self.far, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        os.set_blocking(self._near, False)
        self._drawn = b""

    @property
    def modes(self) -> list[object]:
        return termios.tcgetattr(self.far)

    @property
    def drawn(self) -> str:
        try:
            while data := os.read(self._near, 65536):
                self._drawn += data
        except OSError:
            pass
        return self._drawn.decode("utf-8", "replace")

    def close(self) -> None:
        os.close(self._near)
        os.close(self.far)


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    terminal = Terminal()
    yield terminal
    terminal.close()


@pytest.fixture
def on_terminal(launch, terminal, queue, tasks, noted, let_go):
    """A run with a held job, one that fails and one to do, seen on a terminal until its end."""

    @contextmanager
    def run(**variables):
        job = queue.enqueue("held", {"url": "https://example.com/kept"})
        queue.enqueue("no such task", {})
        run = launch(
            *("--workers", 2, "--tasks", tasks),
            stderr=terminal.far,
            TERM="xterm-256color",
            **{"NO_COLOR": None, **variables},
        )
        wait_until(lambda: noted("begun"), "the job has begun")
        wait_until(lambda: f"job {job} working" in terminal.drawn, "the job is shown")
        wait_until(lambda: "1 failed" in terminal.drawn, "the failure is shown")
        yield run
        let_go()
        assert run.wait() == 0

    return run


def test_a_terminal_shows_the_pool_at_work_and_is_left_as_it_was(on_terminal, terminal):
    before = terminal.modes

    with on_terminal() as run:
        assert "2 workers, slots 0–1 of 2" in terminal.drawn
        assert "held https://example.com/kept" in terminal.drawn
        assert "━" in terminal.drawn
        assert HIDE_CURSOR in terminal.drawn

    drawn = terminal.drawn
    assert "Traceback" not in drawn
    assert drawn.rindex(SHOW_CURSOR) > drawn.rindex(HIDE_CURSOR)
    assert terminal.modes == before
    assert COLOUR.search(drawn)
    assert "1 done, 1 failed" in run.stdout
    assert "\x1b" not in run.stdout


def test_what_a_worker_says_is_one_line_on_the_terminal_too(on_terminal, terminal):
    with on_terminal():
        pass

    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", terminal.drawn)
    (said,) = [line for line in plain.splitlines() if "no task named" in line]
    assert "worker " in said
    assert "or correct the job's task" in said


def test_no_color_is_honoured(on_terminal, terminal):
    with on_terminal(NO_COLOR="1"):
        pass

    assert not COLOUR.search(terminal.drawn)


def test_ctrl_c_on_a_terminal_leaves_it_as_it_was(on_terminal, terminal, let_go):
    with on_terminal() as run:
        run.signal_group(signal.SIGINT)
        wait_until(lambda: "claiming nothing more" in terminal.drawn, "the signal is told")

    drawn = terminal.drawn
    assert drawn.rindex(SHOW_CURSOR) > drawn.rindex(HIDE_CURSOR)
    assert "Traceback" not in drawn


def test_without_a_terminal_there_is_no_picture(launch, queue, tasks):
    queue.enqueue("noop", {})

    run = launch("--workers", 1, "--tasks", tasks)

    assert run.wait() == 0
    assert "\x1b" not in run.output
    assert "━" not in run.output
