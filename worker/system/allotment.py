"""Which slots a run has now, in shared memory: written by the heart, read by launcher and workers.

A worker keeps the slot that it was started for. When its place is allotted another one, it ends
after its job, and the launcher starts the next one there.
"""

from __future__ import annotations

import ctypes
import math
import mmap
import time
from collections.abc import Mapping
from typing import ClassVar

_NONE = -1


class _Head(ctypes.Structure):
    _fields_: ClassVar = [
        ("total", ctypes.c_int64),
        ("held_until", ctypes.c_double),
        ("wanted", ctypes.c_int64),
    ]

    total: int
    held_until: float
    wanted: int


class Allotment:
    """A slot, or none, for each place of a run's workers; at first one after the other."""

    def __init__(self, places: int, first_slot: int = 0, total: int | None = None) -> None:
        head = ctypes.sizeof(_Head)
        self._memory = mmap.mmap(-1, head + 2 * places * ctypes.sizeof(ctypes.c_int64))
        self._head = _Head.from_buffer(self._memory)
        numbers = ctypes.c_int64 * places
        self._slots = numbers.from_buffer(self._memory, head)
        self._fences = numbers.from_buffer(self._memory, head + ctypes.sizeof(numbers))
        self._slots[:] = list(range(first_slot, first_slot + places))
        self._head.total = total or first_slot + places
        self._head.wanted = places
        self._head.held_until = math.inf

    @property
    def total(self) -> int:
        """Of how many slots these are some."""
        return self._head.total

    @property
    def wanted(self) -> int:
        """For how many places the run wants a slot; the others rest."""
        return self._head.wanted

    @wanted.setter
    def wanted(self, number: int) -> None:
        self._head.wanted = number

    @property
    def slots(self) -> list[int | None]:
        """The slot of each place; None where it has none."""
        return [self.slot_at(place) for place in range(len(self._slots))]

    @property
    def fences(self) -> dict[int, int]:
        """Each slot that some place has, with the fence it is held under."""
        pairs = zip(self._slots, self._fences, strict=True)
        return {slot: fence for slot, fence in pairs if slot != _NONE}

    @property
    def is_held(self) -> bool:
        """Whether the slots are the run's for certain: they were renewed in time."""
        return time.monotonic() < self._head.held_until

    def slot_at(self, place: int) -> int | None:
        """The slot of one place."""
        slot: int = self._slots[place]
        return None if slot == _NONE else slot

    def place_of(self, slot: int | None) -> int | None:
        """Find the place that has a slot."""
        return next((place for place, each in enumerate(self._slots) if each == slot), None)

    def empty(self) -> None:
        """Have no slots, until some are allotted."""
        self._slots[:] = [_NONE] * len(self._slots)
        self._head.held_until = 0.0

    def allot(self, fences: Mapping[int, int], total: int) -> None:
        """Give each place a slot while there are some; places keep theirs where they can."""
        left = sorted(set(fences) - set(self._slots))
        # Until the places know their slots, none is to lie beyond the total.
        self._head.total = max(total, self._head.total)
        for place, before in enumerate(self._slots):
            slot = before
            if before not in fences:
                slot = left.pop(0) if left else _NONE
            self._fences[place] = fences.get(slot, 0)
            self._slots[place] = slot
        self._head.total = total

    def have_first(self, number: int) -> None:
        """Have as many slots as are wanted, of as many in all: those of the first places."""
        self.wanted = number
        self.allot(dict.fromkeys(range(number), 0), number)

    def hold_until(self, moment: float) -> None:
        """Let workers claim until then, a monotonic time, unless it is put off again."""
        self._head.held_until = moment
