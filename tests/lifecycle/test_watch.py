"""`launcher.py watch`: the status stays on the screen, and Ctrl-C leaves it there."""

from __future__ import annotations

import fcntl
import re
import signal
import struct
import termios
from collections.abc import Iterator

import pytest

from tests.lifecycle.conftest import wait_until
from tests.lifecycle.pseudo_terminal import Terminal

HIDE_CURSOR, SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
NARROW = 24


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    terminal = Terminal()
    yield terminal
    terminal.close()


def test_the_screen_follows_the_queue_until_ctrl_c_and_is_left_in_order(launch, terminal, queue):
    queue.enqueue("visit", {})
    before = terminal.modes
    watch = launch("watch", "--every", "0.2s", stdout=terminal.far, TERM="xterm-256color")
    wait_until(lambda: "1 job: 1 pending" in terminal.drawn, "the queue is shown")
    assert HIDE_CURSOR in terminal.drawn

    queue.enqueue("visit", {})
    wait_until(lambda: "2 jobs: 2 pending" in terminal.drawn, "the change is shown")
    watch.signal(signal.SIGINT)

    assert watch.wait() == 0
    drawn = terminal.drawn
    assert watch.stderr == ""
    assert drawn.rindex(SHOW_CURSOR) > drawn.rindex(HIDE_CURSOR)
    # What it showed last stays.
    assert "2 jobs: 2 pending" in drawn[drawn.rindex(SHOW_CURSOR) :]
    assert terminal.modes == before


def test_a_narrow_window_cuts_the_lines(launch, terminal, queue):
    fcntl.ioctl(terminal.far, termios.TIOCSWINSZ, struct.pack("HHHH", 8, NARROW, 0, 0))
    queue.enqueue("visit", {}, delay_seconds=1000)
    watch = launch("watch", "--every", "0.2s", stdout=terminal.far, TERM="xterm-256color")
    wait_until(lambda: "1 job: 1 pending" in terminal.drawn, "the queue is shown")
    drawn = CONTROL.sub("", terminal.drawn)
    watch.signal(signal.SIGINT)

    assert watch.wait() == 0
    assert max(len(line) for line in re.split(r"[\r\n]+", drawn)) < NARROW


def test_a_picture_that_is_higher_than_the_window_is_cut(launch, terminal, queue):
    fcntl.ioctl(terminal.far, termios.TIOCSWINSZ, struct.pack("HHHH", 2, 80, 0, 0))
    queue.enqueue("visit", {}, delay_seconds=1000)
    watch = launch("watch", "--every", "0.2s", stdout=terminal.far, TERM="xterm-256color")
    wait_until(lambda: "1 job: 1 pending" in terminal.drawn, "the queue is shown")
    watch.signal(signal.SIGTERM)

    assert watch.wait() == 0


def test_off_a_terminal_each_change_is_a_line(launch, queue):
    queue.enqueue("visit", {})
    watch = launch("watch", "--every", "0.1s")
    wait_until(lambda: "1 pending" in watch.stdout, "the queue is told")
    queue.enqueue("visit", {})
    wait_until(lambda: "2 pending" in watch.stdout, "the change is told")
    watch.signal(signal.SIGINT)

    assert watch.wait() == 0
    first, second = watch.stdout.splitlines()
    assert re.match(r"\d\d:\d\d:\d\dZ  1 pending, 0 in_progress, 0 done, 0 error, ", first)
    assert second.endswith("nothing is running")
    assert watch.stderr == ""


def test_it_does_not_look_without_a_rest(launch, database):
    watch = launch("watch", "--every", "0")

    assert watch.wait() == 2
    assert "look at most every 0.1 s" in watch.stderr
