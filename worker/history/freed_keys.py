"""The dedupe keys that a discard sets free, of jobs that may have done what cannot be undone.

While such a job is in the queue, its key keeps anybody from adding it once more.
"""

from __future__ import annotations

from collections.abc import Sequence

from worker.database.client import Database
from worker.history import dead_letters
from worker.history.dead_letters import Scope

SHOWN = 3


def find(db: Database, scope: Scope, limit: int | None = None) -> list[str]:
    """List the dedupe keys of the scope's jobs that may be half done or have taken such a step."""
    return [
        row["dedupe_key"]
        for ids in dead_letters.chunks(db, scope, limit)
        for row in db.fetch_all("keys_that_keep_from_repeating", ids=tuple(ids))
    ]


def warning(keys: Sequence[str], *, jobs: int, verb: str = "is") -> str:
    """Say what may happen now that these keys are free; `jobs` is how many were discarded."""
    if not keys:
        return ""
    if len(keys) == 1:
        whose = "its" if jobs == 1 else "the"
        said = f"{whose} dedupe key {keys[0]!r} {verb} free again: adding it once more"
    else:
        named = ", ".join(map(repr, keys[:SHOWN])) + (" …" if len(keys) > SHOWN else "")
        plural = "are" if verb == "is" else verb
        said = f"{len(keys):,} dedupe keys {plural} free again ({named}): adding those once more"
    return f"{said} would do it again"
