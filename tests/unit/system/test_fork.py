"""A child has its own signals from its first moment, and gives the launcher its own back."""

from __future__ import annotations

import os
import signal

import pytest

from worker.system.fork import HANDLED, fork


@pytest.fixture
def launcher_listens(monkeypatch):
    """A process that listens as the launcher does; each child is told to stop at once."""
    heard = []
    before = signal.signal(signal.SIGTERM, lambda *_: heard.append(os.getpid()))
    fork_now = os.fork

    def fork_and_stop() -> int:
        pid = fork_now()
        if not pid:
            os.kill(os.getpid(), signal.SIGTERM)
        return pid

    monkeypatch.setattr(os, "fork", fork_and_stop)
    yield heard
    signal.signal(signal.SIGTERM, before)


def test_a_child_that_is_told_to_stop_before_it_listens_does_stop(launcher_listens):
    pid = fork(lambda: 0)

    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGTERM
    assert launcher_listens == []


def test_the_launcher_hears_its_signals_again_after_a_fork(launcher_listens):
    os.waitpid(fork(lambda: 0), 0)

    os.kill(os.getpid(), signal.SIGTERM)

    assert launcher_listens == [os.getpid()]
    assert not signal.pthread_sigmask(signal.SIG_BLOCK, []) & set(HANDLED)


def test_it_does_when_the_machine_can_start_no_process(launcher_listens, monkeypatch):
    def fail() -> int:
        raise BlockingIOError

    monkeypatch.setattr(os, "fork", fail)

    with pytest.raises(BlockingIOError):
        fork(lambda: 0)

    assert not signal.pthread_sigmask(signal.SIG_BLOCK, []) & set(HANDLED)
