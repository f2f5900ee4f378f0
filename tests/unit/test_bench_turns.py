"""Sides of a comparison take turns; one that fails costs no other its figures."""

from __future__ import annotations

from bench.harness import Found, at_least
from bench.turns import take_turns


def test_sides_take_turns_and_every_other_round_goes_backwards():
    order = []

    def side(name):
        return lambda: order.append(name) or float(len(order))

    figures = take_turns({"a": side("a"), "b": side("b")}, seconds=0, least=3)

    assert order == ["a", "b", "b", "a", "a", "b"]
    assert figures == {"a": [1.0, 4.0, 5.0], "b": [2.0, 3.0, 6.0]}


def test_a_side_that_fails_in_any_round_is_a_row_that_is_not_met_and_the_others_go_on():
    rounds = iter([1.0])
    sides = {
        "ours": lambda: 2.0,
        "RQ": lambda: 1.0,
        # It fails in the second round.
        "Celery": lambda: next(rounds),
        "Huey": [].pop,
    }

    figures = take_turns(sides, seconds=0, least=3)

    assert figures == {"ours": [2.0] * 3, "RQ": [1.0] * 3}
    good, bad = (
        figures.row("no-op jobs", name, "ours", name, at_least(1.5), unit="jobs/s")
        for name in ("RQ", "Huey")
    )
    assert (good.value, good.met) == (2.0, True)
    assert (bad.value, bad.met, bad.wanted) == (None, False, "≥ 1.5")
    assert "Huey: pop from empty list" in bad.note
    assert set(figures.lost) == {"Celery", "Huey"}
    assert not Found([good, bad]).is_measured


def test_when_every_side_fails_it_ends():
    figures = take_turns({"ours": [].pop}, seconds=60, least=3)

    assert figures == {}
