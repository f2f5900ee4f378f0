"""The one writer of the roll-ups: a lease with a fence in the database, and writes under it.

Another one takes over when the lease ends, or by force. The fence is checked in the transaction of
every write, so what a former writer has worked out is never written over what the next one wrote.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from worker.database.client import Database, Transaction
from worker.reporting.minutes import Counted
from worker.reporting.spans import Span

LEASE_SECONDS = 60.0
# A lease with less left is renewed: also while there is nothing to write.
RENEW_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the roll-ups are; None: there are none yet."""

    counted_until: datetime | None
    settled_until: datetime | None
    hours_until: datetime | None
    days_until: datetime | None

    def as_params(self) -> dict[str, Any]:
        return {
            "counted_until": self.counted_until,
            "settled_until": self.settled_until,
            "hours_until": self.hours_until,
            "days_until": self.days_until,
        }


@dataclass(frozen=True, slots=True)
class Stretch:
    """Roll-ups of one span between two moments: all there are."""

    span: Span
    start: datetime
    end: datetime
    counted: Counted


@dataclass(slots=True)
class Writer:
    """One who may become the writer; `owner` says for people who it is."""

    db: Database
    owner: str
    fence: int | None = None

    def hold(self, *, by_force: bool = False) -> tuple[datetime, Progress] | None:
        """Be the writer, if that is possible; return the database's time and how far it is."""
        row = self.db.fetch_all("read_writer")[0]
        is_mine = row["owner"] == self.owner and row["fence"] == self.fence
        if not is_mine:
            is_free = row["owner"] in (None, self.owner) or float(row["lease_left"] or 0) < 0
            if not (is_free or by_force):
                return None
            self.db.execute(
                "take_writer", owner=self.owner, lease_seconds=LEASE_SECONDS, by_force=by_force
            )
            row = self.db.fetch_all("read_writer")[0]
            if row["owner"] != self.owner:
                return None
            self.fence = row["fence"]
        elif float(row["lease_left"] or 0) < RENEW_SECONDS:
            self.db.execute("hold_writer", **self._proof())
        names = ("counted_until", "settled_until", "hours_until", "days_until")
        return row["now"], Progress(*(row[name] for name in names))

    def write(self, stretch: Stretch | None, progress: Progress) -> bool:
        """Replace the roll-ups of a stretch and move on, in one transaction.

        Return whether that was done: False when another one has become the writer.
        """

        def replace(tx: Transaction) -> bool:
            if tx.execute("hold_writer", **self._proof()) != 1:
                tx.discard()
                return False
            tx.execute("move_writer", **progress.as_params())
            if stretch is not None:
                _replace(tx, stretch)
            return True

        return self.db.transaction(replace)

    def release(self) -> None:
        """Let another one write, at once."""
        if self.fence is not None:
            self.db.execute("release_writer", owner=self.owner, fence=self.fence)
            self.fence = None

    def _proof(self) -> dict[str, Any]:
        return {"owner": self.owner, "fence": self.fence, "lease_seconds": LEASE_SECONDS}


def _replace(tx: Transaction, stretch: Stretch) -> None:
    where = {"span": stretch.span.name, "start": stretch.start, "end": stretch.end}
    tx.execute("clear_task_rollups", **where)
    tx.execute("clear_worker_rollups", **where)
    by_task = [
        {"span": stretch.span.name, "start": start, "task": task, "outcome": outcome.value}
        | tally.as_params()
        for (start, task, outcome), tally in stretch.counted.by_task.items()
    ]
    by_worker = [
        {"span": stretch.span.name, "start": start, "run_id": run_id, "slot": slot}
        | {"outcome": outcome.value}
        | tally.as_params()
        for (start, run_id, slot, outcome), tally in stretch.counted.by_worker.items()
    ]
    if by_task:
        tx.insert_many("add_task_rollup", by_task)
        tx.insert_many("add_worker_rollup", by_worker)
