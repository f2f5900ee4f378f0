"""How many candidates a worker reads at a time: as many as it claims within about a second.

Few rows are stale when their turn comes, and few statements are spent on reading them.
"""

from __future__ import annotations

MIN_ROWS = 4
MAX_ROWS = 256


class BatchSize:
    """The size of one worker's next batch."""

    def __init__(self) -> None:
        self.rows = MIN_ROWS

    def learn(self, *, was_used_up: bool) -> None:
        """Follow the worker's pace: one that was used up was too small, a stale one too large."""
        grown = min(self.rows * 2, MAX_ROWS)
        self.rows = grown if was_used_up else max(self.rows // 2, MIN_ROWS)
