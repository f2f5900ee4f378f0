"""The attempts that left evidence, in the order they ended, read in batches."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from worker.database.client import Database, Row

BATCH = 500
_EARLIEST = datetime.fromisoformat("1970-01-01")


def attempts_since(db: Database, seconds: float, batch: int = BATCH) -> Iterator[Row]:
    """Go through all attempts of that long ago and later, each once."""
    behind: dict[str, Any] = {"since": _EARLIEST, "job_id": 0, "fence": 0}
    while True:
        rows = db.fetch_all("evidence_of_attempts", seconds=seconds, limit=batch, **behind)
        yield from rows
        if len(rows) < batch:
            return
        last = rows[-1]
        behind = {"since": last["finished_at"], "job_id": last["job_id"], "fence": last["fence"]}
