"""A slot starts its next worker later and later, gives up on one that never boots, and says why."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from worker.board import Board, Phase
from worker.supervisor import slot as slots
from worker.supervisor.oom import oom_kills
from worker.supervisor.slot import Slot, State

# Later Pythons warn of forks beside threads, which other tests may have left running.
pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")


@pytest.fixture
def make_slot(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Slot]]:
    """Slots of real processes with short lives; the first wait is 0.1 s instead of 0.2 s."""
    monkeypatch.setattr(slots, "RESPAWN_SECONDS", 0.1)
    made: list[Slot] = []

    def make(*, boots: bool, lives_seconds: float = 0.0, code: int = 7) -> Slot:
        board = Board(1)
        entry = board.entries[0]

        def main() -> int:
            if boots:
                entry.phase = Phase.IDLE
            time.sleep(lives_seconds)
            return code

        made.append(Slot(0, entry, main))
        return made[-1]

    yield make
    for each in made:
        if each.pid:
            with suppress(ProcessLookupError):
                os.kill(each.pid, 9)
            os.waitpid(each.pid, 0)


def start_and_bury(slot: Slot, **how: bool) -> tuple[float, dict[str, Any]]:
    """Let a slot have its next worker; return how long it waited to start, and the death."""
    began = time.monotonic()
    while slot.state is State.WAITING:
        assert time.monotonic() - began < 10
        slot.start_if_due()
        time.sleep(0.002)
    waited = time.monotonic() - began
    _, status = os.waitpid(slot.pid, 0)
    death = slot.ended(
        os.waitstatus_to_exitcode(status),
        **{"is_stopping": False, "is_out_of_memory": False, **how},
    )
    return waited, death


def test_the_wait_before_the_next_worker_grows(make_slot):
    slot = make_slot(boots=True)

    waits = [start_and_bury(slot)[0] for _ in range(5)]

    # Each is doubled, give or take a quarter.
    for wait, least in zip(waits[1:], (0.075, 0.15, 0.3, 0.6), strict=True):
        assert wait >= least
    assert slot.crashes == 5
    assert slot.state is State.WAITING


def test_the_wait_is_short_again_after_a_proven_survival(make_slot, monkeypatch):
    slot = make_slot(boots=True, lives_seconds=0.03)
    for _ in range(4):
        start_and_bury(slot)
    monkeypatch.setattr(slots, "SURVIVAL_SECONDS", 0.02)

    start_and_bury(slot)

    # The fifth crash in a row would have made it 1.2 s at least.
    assert start_and_bury(slot)[0] < 0.9


def test_a_slot_that_never_boots_is_given_up(make_slot):
    slot = make_slot(boots=False, code=69)

    for _ in range(2):
        start_and_bury(slot)
        assert slot.state is State.WAITING
    start_and_bury(slot)

    assert slot.state is State.GIVEN_UP
    assert slot.last_ending == "exited with code 69"
    slot.start_if_due()
    assert slot.pid == 0


def test_a_worker_that_ends_by_itself_is_not_started_again(make_slot):
    slot = make_slot(boots=True, code=0)

    start_and_bury(slot)

    assert (slot.state, slot.crashes) == (State.FINISHED, 0)


def test_a_death_for_want_of_memory_is_told_as_such(make_slot):
    slot = make_slot(boots=True, lives_seconds=60)
    slot.start_if_due()
    os.kill(slot.pid, 9)
    os.waitpid(slot.pid, 0)

    death = slot.ended(-9, is_stopping=False, is_out_of_memory=True)

    assert death["ending"] == "killed by SIGKILL, out of memory"
    assert death["outcome"] == "crashed"


def test_the_kernels_counters_of_such_deaths_are_added_up(tmp_path: Path):
    machine, group = tmp_path / "vmstat", tmp_path / "memory.events"
    machine.write_text("pgfault 77\noom_kill 3\noom_kill_old 9\n", encoding="ascii")
    group.write_text("low 0\nhigh 1\nmax 20\noom 5\noom_kill 2\noom_group_kill 0\n", "ascii")

    assert oom_kills((machine, group)) == 5
    assert oom_kills((machine, tmp_path / "absent")) == 3
    assert oom_kills(()) == 0
