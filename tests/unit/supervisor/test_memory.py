"""A worker's memory is that of its whole family of processes, and of nobody else's."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from worker.supervisor.memory import memory_mb
from worker.system.board import Board
from worker.system.process_tree import identify

HOLD = "b = bytearray(%d << 20); print('ready', flush=True); import sys; sys.stdin.read()"


@pytest.fixture
def driver():
    """A process with a child that holds 60 MiB."""
    child = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {HOLD % 60!r}])"
    process = subprocess.Popen(
        [sys.executable, "-c", child], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout.readline() == b"ready\n"
    yield process
    process.communicate()


def test_it_is_the_workers_its_drivers_and_its_browsers(driver):
    board = Board(2)
    found = identify(driver.pid)
    board.entries[0].driver_pid = found.pid
    board.entries[0].driver_started = found.start_time

    told = memory_mb(board.entries)

    assert 60 < told[0] < 2000
    assert told[1] is None


def test_a_pid_that_is_somebody_elses_now_counts_for_nothing():
    board = Board(1)
    board.entries[0].driver_pid = os.getpid()
    board.entries[0].driver_started = 1

    assert memory_mb(board.entries) == [None]


def test_without_browsers_nothing_is_read():
    assert memory_mb(Board(2).entries) == [None, None]
