"""The table of a cluster's faults: all that was named, one at a time, each healed at its end."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.unit.drill.strikes import strike
from worker.database.client import DatabaseError
from worker.drill.attack import Attack
from worker.drill.cluster import faults
from worker.drill.faults import Fault
from worker.drill.strike import Strike
from worker.errors import DatabaseUnavailable

NAMED = {
    "member killed",
    "member stopped",
    "member partitioned",
    "member left and rejoined",
    "primary killed",
    "primary switched over",
    "primary left gracefully",
    "quorum lost and restored",
}


class Recorder:
    """Notes every call to it, and to whatever belongs to it."""

    def __init__(self, calls: list[str], name: str = "") -> None:
        self._calls, self._name = calls, name

    def __getattr__(self, name: str) -> Any:
        return [] if name == "members" else Recorder(self._calls, name)

    def __call__(self, *_: object) -> None:
        self._calls.append(self._name)


def test_every_fault_excludes_every_other():
    table = faults.table(Recorder([]))

    assert {fault.kind for fault in table} == NAMED
    assert {fault.exclusive for fault in table} == {("cluster",)}


@pytest.mark.parametrize("error", [OSError("gone"), DatabaseUnavailable("away")])
def test_the_cluster_is_healed_whatever_the_strike_came_to(error):
    calls: list[str] = []

    def act(strike: object, world: object) -> None:
        raise error

    struck = strike(0, 0, None)
    faults._healed(act, Recorder(calls), struck)

    assert calls == ["heal"]
    assert struck.miss.endswith(str(error))


def refuse(strike: Strike, world: object) -> None:
    strike.begin()
    raise DatabaseError(3910, "The function cannot be used now")


def come_back_badly(strike: Strike, world: object) -> None:
    strike.begin()
    strike.last(0, 0)
    raise DatabaseUnavailable("m1 does not start")


def attack_with(act: Callable[[Any, Any], None], folder: Path) -> tuple[Attack, Callable[[], None]]:
    """Make an attack of one fault, and a way to strike when it is due."""
    world: Any = SimpleNamespace(strikes=folder / "strikes")

    def deed(strike: Strike) -> None:
        faults._healed(act, Recorder([]), strike)

    nothing: Any = None
    attack = Attack(
        world, nothing, nothing, jobs=10, faults=1, rng=random.Random(1),
        table=(Fault("x", 1, deed, ("cluster",)),),
    )  # fmt: skip

    def strike_once() -> None:
        attack.strike_if_due(10)
        deadline = time.monotonic() + 10
        while attack.is_going_on:
            assert time.monotonic() < deadline
            time.sleep(0.001)

    return attack, strike_once


def test_a_fault_that_the_cluster_refused_does_not_count_and_another_takes_its_place(tmp_path):
    attack, strike_once = attack_with(refuse, tmp_path)

    strike_once()
    assert not attack.has_more
    strike_once()
    attack.close()

    assert (attack.strikes, len(attack.missed), attack.has_more) == ([], 2, True)
    assert "cannot be used now" in attack.missed[0].miss
    assert "x MISSED: " in (tmp_path / "strikes").read_text()


def test_a_fault_that_was_got_over_badly_has_happened_all_the_same(tmp_path):
    attack, strike_once = attack_with(come_back_badly, tmp_path)

    strike_once()
    attack.close()

    assert (len(attack.strikes), attack.missed, attack.has_more) == (1, [], False)
