"""A process counts as stopped from the first look that finds it so, and no longer once it runs."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator

import pytest

from worker.supervisor.stopped import STOPPED, StoppedClock
from worker.system.process_tree import read_stat


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time of day of the looks, which the test moves."""
    now = [1000.0]
    monkeypatch.setattr("worker.supervisor.stopped.time.monotonic", lambda: now[0])
    return now


@pytest.fixture
def process() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process
        process.kill()


def send(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Stop or continue a process, and wait until the kernel shows it so."""
    os.kill(process.pid, number)
    for _ in range(3000):
        stat = read_stat(process.pid)
        if stat is not None and (stat.state == STOPPED) == (number is signal.SIGSTOP):
            return
        time.sleep(0.01)
    pytest.fail(f"it was never seen to obey {number.name}")


def test_the_time_is_counted_from_the_first_look_that_found_it_stopped(process, clock):
    stopped = StoppedClock()
    assert stopped.seconds(process.pid) == 0.0
    clock[0] += 50.0
    send(process, signal.SIGSTOP)

    assert stopped.seconds(process.pid) == 0.0
    clock[0] += 0.75
    assert stopped.seconds(process.pid) == 0.75


def test_many_short_stops_are_not_added_up(process, clock):
    stopped = StoppedClock()
    for _ in range(4):
        send(process, signal.SIGSTOP)
        assert stopped.seconds(process.pid) == 0.0
        clock[0] += 0.75
        assert stopped.seconds(process.pid) == 0.75
        send(process, signal.SIGCONT)
        assert stopped.seconds(process.pid) == 0.0


def test_another_process_and_none_at_all_begin_anew(process, clock):
    stopped = StoppedClock()
    send(process, signal.SIGSTOP)
    stopped.seconds(process.pid)
    clock[0] += 5.0

    assert stopped.seconds(0) == 0.0
    assert stopped.seconds(process.pid) == 0.0
