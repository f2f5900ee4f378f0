"""A machine that cannot fork now is asked again, and complained of once."""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path

import pytest

from worker.errors import NightshiftError
from worker.supervisor import patient_fork
from worker.supervisor.patient_fork import PatientFork
from worker.supervisor.slot import Slot, State
from worker.system import fork as forking
from worker.system.board import Board

# Later Pythons warn of forks beside threads, which other tests may have left running.
pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")

OPEN_FILES = Path("/proc/self/fd")


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> list[OSError]:
    """What the next forks raise; a child is made when none is left."""
    errors = [OSError(number, os.strerror(number)) for number in (errno.EAGAIN, errno.ENOMEM)]
    real = os.fork

    def fork() -> int:
        if errors:
            raise errors.pop(0)
        return real()

    monkeypatch.setattr(os, "fork", fork)
    monkeypatch.setattr(patient_fork, "FIRST_WAIT_SECONDS", 0.01)
    monkeypatch.setattr(forking, "FORK_RETRY_SECONDS", 0.01)
    return errors


def test_a_slot_waits_until_the_machine_can_fork_and_says_so_once(full):
    said: list[str] = []
    slot = Slot(0, Board(1).entries[0], lambda _: 0, PatientFork(said.append))
    open_files = sum(1 for _ in OPEN_FILES.iterdir())

    slot.start_if_due()
    assert (slot.state, slot.pid) == (State.WAITING, 0)
    assert sum(1 for _ in OPEN_FILES.iterdir()) == open_files
    deadline = time.monotonic() + 10
    while not slot.pid and time.monotonic() < deadline:
        slot.start_if_due()

    os.waitpid(slot.pid, 0)
    slot.output.close()
    assert slot.state is State.RUNNING
    assert said == [
        "cannot start a process (Resource temporarily unavailable); trying again until I can",
        "processes can be started again",
    ]


def test_it_is_not_asked_in_a_spin(full, monkeypatch):
    monkeypatch.setattr(patient_fork, "FIRST_WAIT_SECONDS", 60.0)
    fork = PatientFork()

    assert [fork(lambda: 0, 2) for _ in range(100)] == [None] * 100
    assert len(full) == 1


def test_a_call_in_a_child_waits_for_one_too(full):
    assert forking.call_in_child(lambda: "answered") == "answered"


def test_a_call_in_a_child_gives_up_in_the_end_with_a_plain_word(full, monkeypatch):
    monkeypatch.setattr(forking, "FORK_PATIENCE_SECONDS", 0.0)
    full *= 100

    with pytest.raises(NightshiftError, match="cannot start a process"):
        forking.call_in_child(lambda: "answered")
