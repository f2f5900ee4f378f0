"""How many workers pay, found out on machines and sites that are simulated."""

from __future__ import annotations

import random

import pytest

from tests.unit.supervisor.simulated_machine import Machine, Pool
from worker.supervisor.head_count import HeadCount, Reading, room_for, short_of
from worker.system.headroom import Spare

CPU_BOUND = Machine()
NEARLY = Machine(wait=0.1)
SLOW = Machine(wait=0.55)
VERY_SLOW = Machine(wait=5.0)
LONG = Machine(cpu=1.0, wait=60.0)
LARGE = Machine(cores=8, wait=0.5)
LIMITED = Machine(cpu=0.1, wait=0.5, site=3.0)
NOISY = Machine(wait=0.55, jitter=0.5)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("machine", "seconds"),
    [
        (CPU_BOUND, 60), (NEARLY, 60), (SLOW, 120), (LARGE, 120), (LIMITED, 60), (NOISY, 180),
        (VERY_SLOW, 600), (LONG, 600),
    ],
    ids=["cpu", "nearly", "slow", "large", "limited", "noisy", "very slow", "long jobs"],
)  # fmt: skip
def test_a_run_takes_at_most_a_tenth_longer_than_with_the_best_fixed_number(machine, seconds, seed):
    machine.dice = random.Random(seed)
    best = machine.best(32)
    pool = Pool(machine, jobs=best * seconds)

    pool.run()

    assert pool.seconds <= 1.1 * seconds


@pytest.mark.parametrize(
    "machine", [CPU_BOUND, NEARLY, SLOW, LARGE, LIMITED, VERY_SLOW],
    ids=["cpu", "nearly", "slow", "large", "limited", "very slow"],
)  # fmt: skip
def test_a_night_is_quiet_once_the_number_is_found(machine):
    machine.dice = random.Random(1)
    pool = Pool(machine)

    pool.run(6 * 3600)

    late = [change for change in pool.changes if change[0] > 600]
    assert len(late) <= 6 * 12
    assert pool.done / pool.seconds >= 0.95 * machine.best(32)


def test_where_the_site_gives_no_more_the_lowest_number_that_does_as_well_is_kept():
    pool = Pool(Machine(cpu=0.1, wait=0.5, site=3.0))

    pool.run(120)

    assert pool.head_count.number == 2


def test_where_the_processors_are_used_up_nothing_is_added():
    pool = Pool(Machine())

    pool.run(300)

    assert pool.changes == []


def test_no_more_are_added_than_there_is_memory_for():
    pool = Pool(Machine(wait=5.0, room_for=6))

    pool.run(300)

    assert pool.head_count.number == 6


def test_no_more_are_added_than_is_allowed():
    pool = Pool(Machine(wait=5.0), most=5)

    pool.run(300)

    assert pool.head_count.number == 5


def test_workers_are_taken_back_while_memory_is_short_and_come_again_later():
    pool = Pool(Machine(wait=5.0), most=16)
    pool.run(120)
    assert pool.head_count.number == 16

    pool.short_of = "memory"
    pool.run(60)
    fewer = pool.head_count.number
    pool.short_of = ""
    pool.run(600)

    assert 1 <= fewer <= 5
    assert pool.head_count.number == 16
    assert "the machine is short of memory" in {why for _, _, why in pool.changes}


def test_the_last_worker_is_never_taken():
    pool = Pool(Machine())
    pool.short_of = "memory"

    pool.run(300)

    assert pool.head_count.number == 1


def test_workers_are_taken_back_when_others_want_the_processors():
    machine = Machine(wait=1.5)
    pool = Pool(machine)
    pool.run(300)
    before = pool.head_count.number

    machine.others = 1.6
    pool.run(1800)

    assert pool.head_count.number <= before / 2
    assert pool.head_count.number >= machine.cores


def test_a_queue_that_is_nearly_empty_starts_no_browsers():
    pool = Pool(Machine(wait=0.55), jobs=20)

    pool.run()

    assert pool.changes == []


def reading(at, ended, **more):
    known = {"ready": 1000, "is_settled": True, "cpu_free": 0.9, "room": 100}
    return Reading(at=float(at), ended=ended, **{**known, **more})


def test_a_run_that_was_held_up_is_judged_from_then_on():
    count = HeadCount(2, 8)
    for at in range(3):
        assert count.look(reading(at, 10 * at)) == ""

    count.forget()

    # An hour's pause says nothing about the rate.
    assert count.look(reading(3600, 20)) == ""
    assert count.look(reading(3602, 40)) == ""
    assert count.look(reading(3603, 50)) == "90% of the processor time is free"
    assert count.number == 4


def test_browsers_that_are_being_started_are_waited_for_but_not_for_ever():
    count = HeadCount(2, 8)
    count.look(reading(0, 0))
    for at in range(1, 14):
        count.look(reading(at, 100 * at, is_settled=False))
        assert count.number == 2

    for at in range(14, 20):
        count.look(reading(at, 100 * at, is_settled=False))

    assert count.number == 4


@pytest.mark.parametrize(
    ("spare", "room", "short"),
    [
        (Spare(0.5, 8_000, 0.5, 10_000), 28, ""),
        # A group with one gigabyte: what is kept free is more than a twentieth of it.
        (Spare(0.5, 900, 0.9, 10_000), 2, ""),
        (Spare(0.5, 300, 0.3, 10_000), 0, ""),
        (Spare(0.5, 150, 0.15, 10_000), 0, "memory"),
        (Spare(0.5, 1_000, 0.01, 10_000), 0, "memory"),
        # Docker's 64 MB.
        (Spare(0.5, 8_000, 0.5, 64), 3, ""),
        (Spare(0.5, 8_000, 0.5, 7), 0, "/dev/shm"),
        (Spare(0.5, 8_000, 0.5, float("inf")), 28, ""),
    ],
)
def test_what_is_left_to_the_machine_is_not_used(spare, room, short):
    assert room_for(spare, 250.0) == room
    assert short_of(spare) == short


def test_a_worker_that_could_not_have_what_it_needed_means_that_something_is_short():
    plenty = Spare(0.5, 8_000, 0.5, 10_000)

    assert short_of(plenty, had_too_little=True) == "memory or processes"
