"""Slots that hosts share: each has one run, whoever comes, goes, vanishes or comes back."""

from __future__ import annotations

import os
import subprocess
import threading
from dataclasses import replace

import pytest

from worker.claiming import slots
from worker.claiming.slots import Holding, Wish, group_name
from worker.queue import runs
from worker.settings import RunSettings

LEASE = 90.0


@pytest.fixture
def come(database):
    """Start a run that wants so many slots, by a process that lives."""

    def come(wanted, *, most=None, pid=None):
        settings = RunSettings(database=database.settings, workers=wanted, slots="auto")
        run_id = runs.start_run(database, settings, pid or os.getpid())
        return Wish(run_id, "default", wanted, most, LEASE)

    return come


@pytest.fixture
def vanish(database):
    """Let a run fall silent for longer than its lease."""

    def vanish(wish):
        database.run_statement(
            "UPDATE slots SET lease_until = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND "
            "WHERE run_id = %(run)s",
            {"run": wish.run_id},
        )

    return vanish


@pytest.fixture
def let_settle(database):
    """Make as if nothing had changed for so long that runs may move up."""

    def let_settle():
        database.run_statement(
            "UPDATE slot_groups SET changed_at = changed_at - INTERVAL 61 SECOND"
        )

    return let_settle


def held(database):
    rows = database.run_statement("SELECT slot, run_id FROM slots ORDER BY slot")
    return [(row["slot"], row["run_id"]) for row in rows]


def of(holding):
    return sorted(holding.fences), holding.total


def test_runs_take_free_slots_one_after_the_other(database, come):
    first, second = come(3), come(2)

    assert of(slots.settle(database, first)) == ([0, 1, 2], 3)
    assert of(slots.settle(database, second)) == ([3, 4], 5)
    assert of(slots.settle(database, first)) == ([0, 1, 2], 5)


def test_hosts_that_start_at_the_same_moment_share_no_slot(database, come, connect):
    wishes = [come(3) for _ in range(6)]
    gate = threading.Barrier(len(wishes))
    found: list[Holding] = []

    def start(wish):
        db = connect()
        db.ping()
        gate.wait(10)
        found.append(slots.settle(db, wish))

    threads = [threading.Thread(target=start, args=(wish,)) for wish in wishes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)

    taken = [slot for holding in found for slot in holding.fences]
    assert sorted(taken) == list(range(18))
    assert len(held(database)) == 18


def test_a_run_that_settles_again_keeps_its_slots_and_their_fences(database, come):
    wish = come(2)

    first = slots.settle(database, wish)

    assert slots.settle(database, wish) == first
    assert slots.renew(database, wish, first)


def test_an_answer_that_was_lost_takes_no_slot_twice(database, come, lose_the_next_answer):
    wish = come(2)
    slots.settle(database, wish)
    slots.release(database, wish)
    database.patience_seconds = 20

    lose_the_next_answer(database)
    holding = slots.settle(database, wish)

    assert of(holding) == ([0, 1], 2)
    assert len(held(database)) == 2


def test_a_run_that_leaves_frees_its_slots_at_once(database, come):
    first, second, third = come(2), come(2), come(1)
    slots.settle(database, first)
    slots.settle(database, second)

    slots.release(database, first)

    assert of(slots.settle(database, third)) == ([0], 4)


def test_a_host_that_vanishes_frees_its_slots_after_its_lease(database, come, vanish):
    first, second = come(2), come(2)
    slots.settle(database, first)
    vanish(first)

    assert of(slots.settle(database, second, may_expire=False)) == ([2, 3], 4)
    slots.release(database, second)
    assert of(slots.settle(database, second)) == ([0, 1], 2)


def test_a_launcher_that_is_dead_holds_nothing(database, come):
    dead = subprocess.Popen(["sleep", "60"])
    first = come(2, pid=dead.pid)
    slots.settle(database, first)
    dead.kill()
    dead.wait()

    assert of(slots.settle(database, come(2))) == ([0, 1], 2)


def test_a_run_that_ended_without_a_word_on_its_slots_holds_nothing(database, come):
    first = come(2)
    slots.settle(database, first)
    runs.end_run(database, first.run_id, {})

    assert of(slots.settle(database, come(2))) == ([0, 1], 2)


def test_a_host_that_was_cut_off_notices_and_takes_others(database, come, vanish):
    first, second = come(2), come(2)
    before = slots.settle(database, first)
    vanish(first)
    slots.settle(database, second)

    assert not slots.renew(database, first, before)
    seen = slots.look(database, first)
    assert seen is not None
    assert seen.asks_for_change(first, before, may_expire=True)
    after = slots.settle(database, first)

    assert of(after) == ([2, 3], 4)
    assert held(database) == [
        (slot, run.run_id) for slot, run in enumerate([second] * 2 + [first] * 2)
    ]


def test_a_host_that_comes_back_before_anybody_asked_keeps_its_slots(database, come, vanish):
    wish = come(2)
    holding = slots.settle(database, wish)
    vanish(wish)

    assert slots.renew(database, wish, holding)
    assert slots.settle(database, wish) == holding


def test_a_slot_that_was_lost_and_won_again_is_another_hold(database, come, vanish):
    first, second = come(1), come(1)
    before = slots.settle(database, first)
    vanish(first)
    slots.settle(database, second)
    slots.release(database, second)

    after = slots.settle(database, first)

    assert list(after.fences) == list(before.fences) == [0]
    assert after.fences[0] > before.fences[0]
    assert not slots.renew(database, first, before)


def test_a_slot_is_not_renewed_by_the_fence_of_another_one(database, come):
    wish = come(1)
    slots.settle(database, wish)
    wish = replace(wish, wanted=2)
    holding = slots.settle(database, wish)
    assert slots.renew(database, wish, holding)

    low, high = holding.fences[0], holding.fences[1]
    assert low < high
    assert not slots.renew(database, wish, Holding(2, {0: high, 1: low}))


def test_the_others_move_up_when_slots_stay_free(database, come, let_settle):
    first, second = come(2), come(2)
    slots.settle(database, first)
    before = slots.settle(database, second)
    slots.release(database, first)
    holding = slots.settle(database, second)
    assert of(holding) == ([2, 3], 4)
    assert not slots.look(database, second).asks_for_change(second, holding, may_expire=True)

    let_settle()

    assert slots.look(database, second).asks_for_change(second, holding, may_expire=True)
    after = slots.settle(database, second)
    assert of(after) == ([0, 1], 2)
    assert not slots.renew(database, second, before)


def test_a_run_follows_when_others_come_and_go(database, come):
    first, second = come(2), come(2)
    holding = slots.settle(database, first)
    assert not slots.look(database, first).asks_for_change(first, holding, may_expire=True)

    slots.settle(database, second)

    assert slots.look(database, first).asks_for_change(first, holding, may_expire=True)


def test_more_hosts_than_slots_share_what_there_is(database, come):
    first, second, third = come(3, most=4), come(3), come(3)
    slots.settle(database, first)

    assert slots.who_keeps_out(database, third) is None
    assert of(slots.settle(database, second)) == ([3], 4)
    assert of(slots.settle(database, third)) == ([], 4)
    out = slots.who_keeps_out(database, replace(third, run_id=0))
    assert out is not None
    assert out.endswith(" has 0-3")

    slots.release(database, first)
    waiting = slots.look(database, third)
    assert waiting.asks_for_change(third, Holding(4), may_expire=True)
    assert of(slots.settle(database, third)) == ([0, 1, 2], 4)


def test_whoever_comes_to_an_empty_group_says_anew_how_many_there_may_be(database, come):
    first, second = come(1, most=1), come(3)
    slots.settle(database, first)
    slots.release(database, first)

    assert of(slots.settle(database, second)) == ([0, 1, 2], 3)


def test_groups_have_slots_of_their_own(database, come):
    first = come(2)
    other = replace(come(2), group=group_name(["slow", "default"]))

    assert of(slots.settle(database, first)) == ([0, 1], 2)
    assert of(slots.settle(database, other)) == ([0, 1], 2)


def test_a_group_is_named_by_its_queues_in_any_order():
    assert group_name(["b", "a", "b"]) == group_name(["a", "b"]) == "a,b"
    many = [f"queue-{number}" for number in range(100)]
    assert len(group_name(many)) <= 191
    assert group_name(many) != group_name(many[:-1])


def test_a_runs_row_tells_its_slots(database, come):
    wish = come(3)
    slots.settle(database, wish)

    rows = database.run_statement("SELECT slots, total FROM runs")

    assert rows == [{"slots": "0-2", "total": 3}]
