"""The table of a cluster's faults: all that was named, one at a time, each healed at its end."""

from __future__ import annotations

from typing import Any

import pytest

from worker.drill.cluster import faults
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

    faults._healed(act, Recorder(calls), None)

    assert calls == ["heal"]
