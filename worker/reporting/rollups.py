"""The duty that keeps the roll-ups: counts closed minutes, puts hours and days together, thins out.

One writer at a time, by a lease with a fence in the database. Everything can be done again: a
minute is counted when it closes and once more when late commits have come in, and a killed writer
leaves nothing half done. Each call does a bounded piece of work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from worker.database.client import Database


@dataclass(slots=True)
class Rollups:
    """One writer of the roll-ups: a heart, or a command that brings them up to date."""

    db: Database
    owner: str

    def beat(self) -> bool:
        """Do the next piece of work, if this is the writer; tell whether more waits to be done."""
        raise NotImplementedError

    def release(self) -> None:
        """Let another one write, at once."""
        raise NotImplementedError


def bring_up_to_date(db: Database, owner: str, seconds: float) -> bool:
    """Count all that has ended, the open minute too; tell whether that came to its end in time.

    For the end of a run and for reports. It takes the writer's place for that while.
    """
    raise NotImplementedError


def rebuild(
    db: Database, owner: str, since: datetime, tell: Callable[[datetime], None] = lambda _: None
) -> None:
    """Work all roll-ups out anew from the hour of a moment on; `tell` hears how far it is.

    Jobs that have been deleted meanwhile, neither done nor archived, are in none any more.
    """
    raise NotImplementedError
