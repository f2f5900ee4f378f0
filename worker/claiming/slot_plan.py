"""Which slots a run takes, keeps and leaves, so that the held slots are 0, 1, 2 … without gaps.

A plan is made from what is held and changes nothing. Each run plans for itself alone.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Plan:
    """What becomes of one run's slots, and how many slots there are then."""

    kept: frozenset[int]
    taken: frozenset[int]
    left: frozenset[int]
    total: int

    @property
    def slots(self) -> frozenset[int]:
        """The run's slots when the plan is carried out."""
        return self.kept | self.taken


def plan(
    own: Collection[int],
    others: Collection[int],
    *,
    wanted: int,
    most: int | None,
    may_move: bool,
) -> Plan:
    """Plan for a run that holds `own` slots, wants `wanted`, and shares with `others`.

    It takes the lowest free slots, up to `most` of all runs together. If it may move, it exchanges
    slots that are higher than the number of held slots for lower free ones. If it wants fewer slots
    than it has, it leaves its highest.
    """
    room = wanted if most is None else min(wanted, max(0, most - len(others)))
    count = max(room, min(len(own), wanted))
    held = len(others) + count
    kept = {slot for slot in sorted(own)[:count] if slot < held or not may_move}
    taken: set[int] = set()
    slot = 0
    while len(kept) + len(taken) < count:
        if slot not in others and slot not in kept:
            taken.add(slot)
        slot += 1
    total = max((*kept, *taken, *others), default=-1) + 1
    return Plan(frozenset(kept), frozenset(taken), frozenset(own) - kept, total)
