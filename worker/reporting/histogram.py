"""Histograms of seconds: how many attempts fell between which bounds.

The bounds are fixed, so that any two histograms can be added up, of whatever minute and task.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping

# Upper bounds of the buckets, in seconds; a last bucket holds what is longer. Stored counts go by
# the number of the bucket: a bound may never be changed. `bucket_bounds` in the SQL is the same.
# fmt: off
BOUNDS: tuple[float, ...] = (
    0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10,
    12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 120, 150, 180, 240, 300, 450, 600, 900, 1200, 1800,
    3600, 7200, 10800, 14400, 21600, 28800, 43200, 86400, 172800, 604800,
)
# fmt: on


class Histogram:
    """Counts by number of the bucket.

    What comes from a table is read when somebody asks for it: a chart of counts alone does not.
    """

    __slots__ = ("_counts", "_unread")

    def __init__(self, counts: Mapping[int, int] | None = None) -> None:
        self._counts: Counter[int] = Counter(counts or {})
        self._unread: list[str] = []

    @classmethod
    def parse(cls, text: str) -> Histogram:
        """Take what a table holds."""
        histogram = cls()
        histogram._unread.append(text)
        return histogram

    def as_json(self) -> str:
        """Write it for a table: only the buckets that hold something."""
        return json.dumps({str(bucket): self.counts[bucket] for bucket in sorted(self.counts)})

    def note(self, bucket: int, count: int) -> None:
        """Add `count` to a bucket, unless their time is not known."""
        if bucket >= 0:
            self._counts[bucket] += count

    def add(self, other: Histogram) -> None:
        """Take in the counts of another histogram."""
        self._unread += other._unread
        for bucket, count in other._counts.items():
            self._counts[bucket] += count

    @property
    def counts(self) -> Counter[int]:
        """The counts, by number of the bucket."""
        unread, self._unread = self._unread, []
        for text in unread:
            for bucket, count in json.loads(text).items():
                self._counts[int(bucket)] += count
        return self._counts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Histogram) and self.counts == other.counts

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Histogram({dict(self.counts)})"

    @property
    def total(self) -> int:
        """How many it holds."""
        return self.counts.total()

    def percentile(self, share: float) -> float | None:
        """Estimate below how many seconds this share of all lies; None when it holds nothing.

        Exact to the width of a bucket, about a fifth of the value; what is longer than the last
        bound counts as that bound.
        """
        wanted = share * self.total
        passed = 0
        for bucket in sorted(self.counts):
            count = self.counts[bucket]
            if passed + count >= wanted:
                lower, upper = _edges(bucket)
                return lower + (upper - lower) * (wanted - passed) / count
            passed += count
        return None

    def cumulative(self) -> list[tuple[float, int]]:
        """List every bound with how many lie below it, as Prometheus wants it (without `+Inf`)."""
        below, listed = 0, []
        for bucket, bound in enumerate(BOUNDS):
            below += self.counts[bucket]
            listed.append((bound, below))
        return listed


def added(histograms: Iterable[Histogram]) -> Histogram:
    """Add histograms up."""
    total = Histogram()
    for each in histograms:
        total.add(each)
    return total


def _edges(bucket: int) -> tuple[float, float]:
    last = len(BOUNDS) - 1
    return BOUNDS[bucket - 1] if bucket else 0.0, BOUNDS[min(bucket, last)]
