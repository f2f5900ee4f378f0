"""However hosts come and go, every slot has one run, and none is left out for long."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from worker.claiming.slot_plan import plan

MOST = st.none() | st.integers(1, 12)
# What happens to a group: a run comes and wants so many, leaves, or looks again.
DEEDS = st.lists(
    st.tuples(st.sampled_from(["come", "go", "look"]), st.integers(0, 5), st.integers(1, 6)),
    max_size=40,
)


def settle(group, run, most, *, may_move=True):
    others = {slot for name, (slots, _) in group.items() if name != run for slot in slots}
    own, wanted = group[run]
    planned = plan(own, others, wanted=wanted, most=most, may_move=may_move)
    group[run] = (set(planned.slots), wanted)
    return planned


def test_a_run_that_comes_takes_the_lowest_free_slots():
    planned = plan((), {0, 1, 4}, wanted=3, most=None, may_move=False)

    assert (planned.taken, planned.total) == ({2, 3, 5}, 6)


def test_where_slots_are_limited_a_run_takes_what_is_left_of_them():
    planned = plan((), {0, 1, 2}, wanted=3, most=4, may_move=False)

    assert (planned.taken, planned.total) == ({3}, 4)


def test_where_none_is_left_a_run_takes_none():
    planned = plan((), {0, 1, 2}, wanted=3, most=3, may_move=True)

    assert (planned.slots, planned.total) == (frozenset(), 3)


def test_a_run_moves_up_when_slots_before_it_have_stayed_free():
    assert plan({4, 5}, {0, 1}, wanted=2, most=None, may_move=False).slots == {4, 5}

    planned = plan({4, 5}, {0, 1}, wanted=2, most=None, may_move=True)

    assert (planned.left, planned.taken, planned.total) == ({4, 5}, {2, 3}, 4)


def test_a_limit_that_was_lowered_takes_no_slot_away():
    assert plan({0, 1, 2}, {3, 4}, wanted=3, most=2, may_move=True).slots == {0, 1, 2}


def test_a_run_that_wants_fewer_leaves_its_highest():
    planned = plan({0, 1, 4, 5}, {2, 3}, wanted=3, most=None, may_move=False)

    assert (planned.kept, planned.left, planned.total) == ({0, 1, 4}, {5}, 5)


@given(DEEDS, MOST)
def test_no_slot_has_two_runs_and_all_are_below_the_total(deeds, most):
    group: dict[int, tuple[set[int], int]] = {}
    for deed, run, wanted in deeds:
        if deed == "go":
            group.pop(run, None)
            continue
        group.setdefault(run, (set(), wanted))
        planned = settle(group, run, most, may_move=deed == "look")
        held = [slot for slots, _ in group.values() for slot in slots]
        assert len(held) == len(set(held))
        assert planned.total == max(held, default=-1) + 1
        assert most is None or len(held) <= most


@given(DEEDS, MOST)
def test_when_all_have_looked_the_slots_are_without_a_gap(deeds, most):
    group: dict[int, tuple[set[int], int]] = {}
    for deed, run, wanted in deeds:
        if deed == "go":
            group.pop(run, None)
        else:
            group.setdefault(run, (set(), wanted))
            settle(group, run, most, may_move=False)

    for run in group:
        settle(group, run, most)

    held = sorted(slot for slots, _ in group.values() for slot in slots)
    assert held == list(range(len(held)))
