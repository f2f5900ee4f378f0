"""The slots of a run on the board: places keep theirs, and who was cut off claims by none."""

from __future__ import annotations

import time

from worker.system.allotment import Allotment


def test_a_run_with_slots_of_its_own_has_them_at_once_and_for_good():
    allotment = Allotment(3, first_slot=6, total=18)

    assert (allotment.slots, allotment.total, allotment.is_held) == ([6, 7, 8], 18, True)
    assert allotment.place_of(7) == 1
    assert allotment.place_of(2) is None


def test_a_run_that_shares_slots_has_none_until_some_are_allotted():
    allotment = Allotment(2)
    allotment.empty()
    assert (allotment.slots, allotment.fences, allotment.is_held) == ([None, None], {}, False)

    allotment.allot({4: 11, 7: 11}, 8)
    allotment.hold_until(time.monotonic() + 60)

    assert (allotment.slots, allotment.total, allotment.is_held) == ([4, 7], 8, True)
    assert allotment.fences == {4: 11, 7: 11}


def test_places_keep_their_slots_when_others_are_replaced():
    allotment = Allotment(3)
    allotment.allot({0: 1, 1: 1, 2: 1}, 3)

    allotment.allot({9: 5, 2: 1, 0: 1}, 10)

    assert allotment.slots == [0, 9, 2]
    assert allotment.fences == {0: 1, 9: 5, 2: 1}


def test_a_place_has_no_slot_when_there_are_too_few():
    allotment = Allotment(3)

    allotment.allot({1: 4}, 2)

    assert allotment.slots == [None, 1, None]
    assert allotment.place_of(None) is None


def test_slots_whose_lease_may_be_over_are_not_held():
    allotment = Allotment(1)

    allotment.hold_until(time.monotonic() - 0.001)

    assert not allotment.is_held


def test_a_run_that_finds_its_number_itself_has_as_many_slots_as_it_wants():
    allotment = Allotment(4)

    allotment.have_first(2)
    assert (allotment.slots, allotment.total, allotment.wanted) == ([0, 1, None, None], 2, 2)

    allotment.have_first(4)
    assert (allotment.slots, allotment.total) == ([0, 1, 2, 3], 4)

    allotment.have_first(1)
    assert (allotment.slots, allotment.total) == ([0, None, None, None], 1)
    assert allotment.is_held
