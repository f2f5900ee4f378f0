"""How far the open batches are: counted a little further with every pass, for a moment at most.

No index knows how many jobs of a batch are done. One of a million jobs takes several passes; until
the first is through, its numbers are "at least". Then each pass that ends gives new ones.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from worker.database.client import Database
from worker.queue.batches import Walk


@dataclass(frozen=True, slots=True)
class BatchCount:
    """The jobs of a batch that are in the queue, by how they stand."""

    unfinished: int = 0
    done: int = 0
    failed: int = 0
    is_whole: bool = False

    @property
    def jobs(self) -> int:
        """All of them."""
        return self.unfinished + self.done + self.failed


@dataclass(slots=True)
class _Counting:
    walk: Walk
    unfinished: int = 0
    last: BatchCount | None = None
    ended_at: float = 0.0

    @property
    def told(self) -> BatchCount:
        so_far = BatchCount(self.unfinished, self.walk.done, self.walk.failed)
        return self.last or so_far


@dataclass(slots=True)
class BatchCounts:
    """What is known of each open batch, and where its count goes on."""

    _known: dict[str, _Counting] = field(default_factory=dict)

    def look(self, db: Database, names: Iterable[str], seconds: float) -> dict[str, BatchCount]:
        """Count on, those first whose numbers are the oldest."""
        self._known = {name: self._known.get(name) or _Counting(Walk(name, 0)) for name in names}
        deadline = time.monotonic() + seconds
        for counting in sorted(self._known.values(), key=lambda each: each.ended_at):
            if not self._go_on(db, counting, deadline):
                break
        return {name: counting.told for name, counting in self._known.items()}

    def _go_on(self, db: Database, counting: _Counting, deadline: float) -> bool:
        """Count one batch to its end; tell whether there was time for that."""
        while time.monotonic() < deadline:
            row = counting.walk.read(db)
            if not row["seen"]:
                told = BatchCount(counting.unfinished, counting.walk.done, counting.walk.failed)
                counting.last, counting.ended_at = replace(told, is_whole=True), time.monotonic()
                counting.walk, counting.unfinished = Walk(counting.walk.name, 0), 0
                return True
            counting.unfinished += int(row["unfinished"])
            counting.walk.take(row)
        return False
