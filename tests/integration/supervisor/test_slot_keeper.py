"""The heart takes its run's slots, renews them in time, and replaces those that are lost."""

from __future__ import annotations

import math
import os
import time

import pytest

from worker.claiming import slots
from worker.queue import runs
from worker.recovery import live_runs
from worker.settings import RunSettings
from worker.slot_numbers import AutoWorkers
from worker.supervisor.slot_keeper import SlotNote, allotment_of, keeper_of

LEASE = 30.0


@pytest.fixture
def keep(database):
    """Make the keeper of a new run."""

    def keep(workers=2, *, answering_seconds=math.inf, **flags):
        settings = RunSettings(
            database=database.settings,
            workers=workers,
            slots="auto",
            lease_seconds=LEASE,
            server_grace_seconds=0,
            **flags,
        )
        run_id = runs.start_run(database, settings, os.getpid())
        allotment = allotment_of(settings)
        return keeper_of(database, settings, allotment, run_id, lambda: answering_seconds)

    return keep


@pytest.fixture
def let_run_out(database):
    def let_run_out():
        database.run_statement(
            "UPDATE slots SET lease_until = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND"
        )

    return let_run_out


@pytest.fixture
def clock(monkeypatch):
    now = [time.monotonic()]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def test_a_run_with_slots_of_its_own_needs_no_keeper(database):
    settings = RunSettings(database=database.settings, workers=2, offset=2, total=4)
    allotment = allotment_of(settings)

    assert keeper_of(database, settings, allotment, 1, lambda: math.inf) is None
    assert (allotment.slots, allotment.total, allotment.is_held) == ([2, 3], 4, True)


def test_a_run_has_no_slot_until_its_keeper_has_looked(keep):
    keeper = keep()
    assert (keeper.allotment.slots, keeper.allotment.is_held) == ([None, None], False)

    keeper.look()

    assert (keeper.allotment.slots, keeper.allotment.is_held) == ([0, 1], True)


def test_slots_are_held_for_a_lease_from_before_they_were_renewed(keep, clock):
    keeper = keep()
    keeper.look()
    clock[0] += LEASE - 1
    assert keeper.allotment.is_held
    clock[0] += 2
    assert not keeper.allotment.is_held

    keeper.renew()

    assert keeper.allotment.is_held


def test_a_keeper_that_was_cut_off_takes_other_slots(keep, let_run_out):
    first, second = keep(), keep()
    first.look()
    let_run_out()
    second.look()

    first.renew()

    assert second.allotment.slots == [0, 1]
    assert first.allotment.slots == [2, 3]
    assert first.allotment.total == 4
    second.look()
    assert second.allotment.total == 4


def test_after_an_outage_no_lease_is_taken_for_over(keep, let_run_out, database):
    first, second = keep(), keep(answering_seconds=0.0)
    object.__setattr__(second, "server_grace_seconds", 10.0)
    first.look()
    let_run_out()

    second.look()

    assert second.allotment.slots == [2, 3]
    first.renew()
    assert first.allotment.slots == [0, 1]


def test_a_run_at_rest_writes_nothing(keep, database):
    first, second = keep(), keep()
    first.look()
    second.look()
    first.look()
    (before,) = database.run_statement("SELECT fence FROM slot_groups")

    for keeper in (first, second, first):
        keeper.look()

    assert database.run_statement("SELECT fence FROM slot_groups") == [before]


def test_a_run_that_ends_gives_its_slots_back(keep, database):
    keeper = keep()
    keeper.look()

    keeper.release()

    assert database.run_statement("SELECT * FROM slots") == []
    assert database.run_statement("SELECT total FROM slot_groups") == [{"total": 0}]


def test_a_heart_that_follows_another_goes_on_with_its_slots(keep, database):
    keeper = keep()
    keeper.look()
    (before,) = database.run_statement("SELECT fence FROM slot_groups")

    next_heart = keeper_of_the_same_run(keeper)
    next_heart.renew()
    next_heart.look()

    assert next_heart.allotment.slots == [0, 1]
    assert database.run_statement("SELECT fence FROM slot_groups") == [before]


def keeper_of_the_same_run(keeper):
    return type(keeper)(keeper.db, keeper.allotment, keeper.wish, 0.0, lambda: math.inf)


def test_what_a_run_wants_is_what_its_flags_say(keep):
    wish = keep(3, total=4, queue="b,a").wish

    assert (wish.group, wish.wanted, wish.most) == ("a,b", 3, 4)
    assert wish.settled_seconds == LEASE
    assert slots.SETTLED_SECONDS == 60.0


def test_a_run_that_wants_fewer_workers_leaves_slots_to_the_others(keep):
    first, second = keep(AutoWorkers(3)), keep(1)
    first.allotment.wanted = 3
    first.look()
    second.look()
    assert (first.allotment.slots, second.allotment.slots) == ([0, 1, 2], [3])

    first.allotment.wanted = 1
    first.look()

    assert first.allotment.slots == [0, None, None]
    first.allotment.wanted = 2
    first.look()
    assert first.allotment.slots == [0, 1, None]


def test_the_row_of_a_run_tells_how_many_workers_it_has_found_good(database):
    settings = RunSettings(database=database.settings, workers=AutoWorkers(8))
    run_id = runs.start_run(database, settings, os.getpid())
    allotment = allotment_of(settings)
    assert 1 <= allotment.wanted <= 8
    note = SlotNote(database, allotment, run_id)

    for number in (2, 5):
        allotment.have_first(number)
        note.look()
        (run,) = live_runs.unended(database)
        assert (run.slots, run.total) == (tuple(range(number)), number)
