"""What held the pool up, from when until when: pauses, outages of the database, open breakers.

Written together with what they tell of. Of one kind and name at most one goes on at a time.
"""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Any

from worker.database.client import Database, Transaction


class EventKind(StrEnum):
    """What may hold a pool up."""

    PAUSE = "pause"
    OUTAGE = "outage"
    BREAKER = "breaker"


def begin(tx: Transaction, kind: EventKind, name: str, **detail: Any) -> None:
    """Note that it begins now, unless it goes on already."""
    tx.execute("begin_event", kind=kind.value, name=name[:300], detail=json.dumps(detail))


def end(tx: Transaction, kind: EventKind, name: str, **detail: Any) -> None:
    """Note that it is over, if it went on; `detail` is added to what was noted at its beginning."""
    tx.execute("end_event", kind=kind.value, name=name[:300], detail=json.dumps(detail))


def keep_outage(db: Database, host: str, run_id: int, seconds: float) -> None:
    """Note that the database was away for `seconds` until now, as a run on a host saw it."""
    db.insert("keep_outage", name=host[:300], run_id=run_id, seconds=seconds)


def forget_old(db: Database, days: int, at_most: int) -> int:
    """Remove events that ended more than `days` days ago; return how many."""
    return db.execute("forget_old_events", days=days, at_most=at_most)
