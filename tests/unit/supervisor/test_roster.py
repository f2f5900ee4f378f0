"""The launcher lets the number of places with a worker follow what it reads, and says so."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from worker.database_settings import DatabaseSettings
from worker.settings import RunSettings
from worker.slot_numbers import AutoWorkers
from worker.supervisor import roster as rosters
from worker.supervisor.roster import Roster
from worker.supervisor.slot import Slot, State
from worker.system.allotment import Allotment
from worker.system.board import Board, Phase
from worker.system.headroom import Spare

PLENTY = Spare(cpu=0.9, memory_mb=16_000, memory_share=0.8, shm_mb=8_000)
SCARCE = Spare(cpu=0.9, memory_mb=90, memory_share=0.01, shm_mb=8_000)


class Scene:
    """A run whose workers do two jobs a second each, on a machine that the test describes."""

    def __init__(self, workers: int, first: int, clock: list[float], **flags: str) -> None:
        settings = RunSettings(DatabaseSettings(), workers=workers, **flags)
        self.allotment = Allotment(int(workers))
        self.allotment.have_first(first)
        self.board = Board(int(workers), self.allotment)
        self.slots = [
            Slot(number, entry, lambda _: 0)
            for number, entry in zip(self.allotment.slots, self.board.entries, strict=True)
        ]
        self.said: list[str] = []
        self.spare = PLENTY
        self.board.header.pending, self.board.header.counted_at = 10_000, 1.0
        room = SimpleNamespace(look=lambda: self.spare)
        self.roster = Roster(settings, self.board, self.slots, self.said.append, room)
        self._clock = clock

    def pass_time(self, seconds: int, *, is_held_up: bool = False) -> None:
        for _ in range(seconds):
            for slot, number in zip(self.slots, self.allotment.slots, strict=True):
                if number is not None and slot.state is not State.GIVEN_UP:
                    slot.pid, slot.entry.phase = 1, Phase.WORKING
                    slot.entry.done += 2
            self._clock[0] += 1
            self.roster.look(is_held_up=is_held_up)


@pytest.fixture
def scene(monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(rosters, "time", SimpleNamespace(monotonic=lambda: now[0]))

    def scene(workers, first=2, **flags):
        return Scene(workers, first, now, **flags)

    return scene


def test_a_number_that_was_given_stays(scene):
    fixed = scene(4, first=4)

    fixed.pass_time(60)

    assert fixed.roster.view() is None
    assert (fixed.allotment.wanted, fixed.said) == (4, [])


def test_places_get_slots_while_more_workers_pay_and_it_is_said_why(scene):
    run = scene(AutoWorkers(5))

    run.pass_time(60)

    assert (run.allotment.slots, run.allotment.total) == ([0, 1, 2, 3, 4], 5)
    assert run.said[0] == "4 workers from now on, after 2: 90% of the processor time is free"
    assert str(run.roster.view()) == "5 workers (auto, up to 5)"
    assert run.roster.view().first == 2


def test_places_lose_their_slots_when_memory_is_short(scene):
    run = scene(AutoWorkers(4), first=4)
    run.spare = SCARCE

    run.pass_time(60)

    assert run.allotment.slots == [0, None, None, None]
    assert run.said[0] == "3 workers from now on, after 4: the machine is short of memory"
    assert run.roster.view().highest == 4


def test_a_worker_that_was_killed_for_want_of_memory_is_a_sign(scene):
    run = scene(AutoWorkers(4), first=4)
    run.pass_time(20)

    run.slots[3].shortages += 1
    run.pass_time(2)

    assert run.allotment.wanted == 3
    run.pass_time(20)
    assert run.allotment.wanted == 3


def test_where_hosts_share_slots_it_is_said_how_many_are_wanted(scene):
    run = scene(AutoWorkers(5), slots="auto")

    run.pass_time(6)

    assert (run.allotment.wanted, run.allotment.slots) == (4, [0, 1, None, None, None])


def test_nothing_changes_while_the_run_is_held_up_or_ends(scene):
    run = scene(AutoWorkers(5))
    run.pass_time(60, is_held_up=True)
    assert run.said == []

    run.slots[0].state = State.FINISHED
    run.pass_time(60)

    assert run.said == []


def test_one_that_can_start_stays_among_the_last(scene):
    run = scene(AutoWorkers(4), first=4)
    run.slots[0].state = run.slots[1].state = State.GIVEN_UP
    run.spare = SCARCE

    run.pass_time(120)

    assert run.allotment.slots == [0, 1, 2, None]
