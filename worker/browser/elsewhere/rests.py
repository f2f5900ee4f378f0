"""How long each endpoint is left alone after it has failed: known to all workers of a run at once.

Shared memory, made before the workers are forked. Each field is written in one go, and two workers
that write at the same moment have seen the same: nothing is lost but a doubling.
"""

from __future__ import annotations

import ctypes
import mmap
import time
from typing import ClassVar

from worker.backoff import backoff_seconds

FIRST_SECONDS = 1.0
LONGEST_SECONDS = 60.0
# What is wrong with an endpoint's settings does not pass by itself, but people correct it.
LASTING_SECONDS = 300.0


class _Rest(ctypes.Structure):
    _fields_: ClassVar = [
        ("until", ctypes.c_double),
        ("failures", ctypes.c_int64),
        ("is_lasting", ctypes.c_int64),
    ]

    until: float
    failures: int
    is_lasting: int


class Rests:
    """The rests of some endpoints, by number; times are of the monotonic clock, which all share."""

    def __init__(self, count: int) -> None:
        size = ctypes.sizeof(_Rest)
        self._memory = mmap.mmap(-1, max(count, 1) * size)
        self._rests = [_Rest.from_buffer(self._memory, number * size) for number in range(count)]

    def seconds_left(self, number: int) -> float:
        """Say for how long an endpoint is still left alone; 0 when it may be tried."""
        return max(0.0, self._rests[number].until - time.monotonic())

    def is_lasting(self, number: int) -> bool:
        """Whether an endpoint failed of something that only a person can change."""
        return bool(self._rests[number].is_lasting)

    def fail(self, number: int, *, is_lasting: bool = False) -> float:
        """Leave an endpoint alone that gives no browser, longer each time; return for how long.

        Workers that find the same at the same time count as one.
        """
        rest = self._rests[number]
        if (left := self.seconds_left(number)) > 0:
            return left
        rest.failures, rest.is_lasting = rest.failures + 1, is_lasting
        seconds = backoff_seconds(rest.failures, FIRST_SECONDS, LONGEST_SECONDS)
        if is_lasting:
            seconds = LASTING_SECONDS
        rest.until = time.monotonic() + seconds
        return seconds

    def succeed(self, number: int) -> None:
        """Forget an endpoint's failures: it has given a browser."""
        rest = self._rests[number]
        rest.until, rest.failures, rest.is_lasting = 0.0, 0, False
