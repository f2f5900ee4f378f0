"""How far the jobs are, by the ledger alone: the database may be away."""

from __future__ import annotations

import time
from pathlib import Path


class Progress:
    """Reads what has been added to the ledger, look by look."""

    def __init__(self, ledger: Path) -> None:
        self._ledger = ledger
        self._read_bytes = 0
        self._ended: set[int] = set()
        self._changed_at = time.monotonic()

    @property
    def ended(self) -> int:
        """How many jobs have been executed to an end, good or bad."""
        return len(self._ended)

    @property
    def still_seconds(self) -> float:
        """How long nothing has ended."""
        return time.monotonic() - self._changed_at

    def look(self) -> None:
        """Take in new lines; half a line is left for the next time."""
        if not self._ledger.exists():
            return
        with self._ledger.open("rb") as file:
            file.seek(self._read_bytes)
            *lines, _ = file.read().split(b"\n")
        for line in lines:
            self._read_bytes += len(line) + 1
            event, job, *_ = line.split()
            if event != b"start":
                self._ended.add(int(job))
                self._changed_at = time.monotonic()
