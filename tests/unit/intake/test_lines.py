"""Lines of any length are read with flat memory."""

from __future__ import annotations

import io
import tracemalloc

from worker.intake.lines import MAX_LINE_BYTES, Lines
from worker.intake.records import read


class Endless(io.RawIOBase):
    """A line of many megabytes that is never in memory as a whole, and a good one after it."""

    def __init__(self, megabytes: int) -> None:
        self._left = megabytes

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        if self._left < 0:
            return 0
        self._left -= 1
        data = b"x" * 1_000_000 if self._left >= 0 else b"\nhttp://good/\n"
        size = min(len(buffer), len(data))
        buffer[:size] = data[:size]
        return size


def test_a_hundred_megabytes_of_one_line_are_passed_over_with_flat_memory():
    lines = Lines(io.BufferedReader(Endless(megabytes=1000), buffer_size=1_000_000))
    tracemalloc.start()
    try:
        found = list(read(lines, "text"))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert lines.bytes_read > 100_000_000
    assert peak < 10_000_000
    assert found == [
        (1, f"longer than {MAX_LINE_BYTES:,} bytes"),
        (2, {"url": "http://good/"}),
    ]
