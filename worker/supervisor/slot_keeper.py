"""The heart's part in the slots of a run: it tells in the run's row which they are.

With `--slots auto` it takes them, renews them, and gives them back. What it holds stands on the
board. Workers claim by a slot only until its lease is surely not over.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from worker.claiming import slots
from worker.claiming.slots import Holding, Wish
from worker.database.client import Database
from worker.recovery import sweep
from worker.settings import RunSettings
from worker.supervisor.head_count import GUESSED_MB, room_for
from worker.system.allotment import Allotment
from worker.system.headroom import Headroom

LOOK_SECONDS = 2.0

logger = logging.getLogger("nightshift.heart")


def allotment_of(settings: RunSettings) -> Allotment:
    """Make the allotment of a run: all of its slots at once, or none until they are taken.

    A run that finds its number of workers itself begins with one for each core that has memory.
    """
    allotment = Allotment(settings.workers, settings.offset, settings.total)
    if settings.finds_number:
        machine = Headroom()
        room = max(1, room_for(machine.look(), GUESSED_MB))
        allotment.have_first(min(machine.cores(), room, settings.workers))
    if settings.shares_slots:
        allotment.empty()
    return allotment


@dataclass(slots=True)
class SlotNote:
    """Shows in the run's row how many slots it has, where the launcher alone decides that."""

    db: Database
    allotment: Allotment
    run_id: int
    _noted: tuple[frozenset[int], int] | None = None

    def look(self) -> None:
        """Write them down if they have changed."""
        found = frozenset(self.allotment.fences), self.allotment.total
        if found != self._noted:
            slots.note(self.db, self.run_id, *found)
            self._noted = found


@dataclass(frozen=True, slots=True)
class SlotKeeper:
    """Keeps one run's slots; `answering_seconds` tells for how long the database has answered."""

    db: Database
    allotment: Allotment
    wish: Wish
    server_grace_seconds: float
    answering_seconds: Callable[[], float]

    def look(self) -> None:
        """Take what is free and wanted, and follow what others have changed."""
        began, holding, wish = time.monotonic(), self._holding, self._wish
        seen = slots.look(self.db, wish)
        if seen is None or seen.asks_for_change(
            wish, holding, may_expire=bool(seen.expired) and self._may_expire
        ):
            self._settle(began)

    def renew(self) -> None:
        """Hold the slots for longer; those that went to others meanwhile are replaced."""
        began, holding = time.monotonic(), self._holding
        if not holding.fences:
            return
        if slots.renew(self.db, self.wish, holding):
            self.allotment.hold_until(began + self.wish.lease_seconds)
        else:
            self._settle(began)

    def release(self) -> None:
        """Let other hosts have the slots."""
        slots.release(self.db, self.wish)

    @property
    def _wish(self) -> Wish:
        """What is wanted now: a run may find its number of workers itself."""
        return replace(self.wish, wanted=self.allotment.wanted)

    @property
    def _holding(self) -> Holding:
        return Holding(self.allotment.total, self.allotment.fences)

    @property
    def _may_expire(self) -> bool:
        """Whether a lease that is over is one: after an outage nobody could renew for a while."""
        up_seconds = min(sweep.uptime_seconds(self.db), self.answering_seconds())
        return up_seconds >= min(self.server_grace_seconds, self.wish.lease_seconds)

    def _settle(self, began: float) -> None:
        before = set(self.allotment.fences)
        holding = slots.settle(self.db, self._wish, may_expire=self._may_expire)
        self.allotment.allot(holding.fences, holding.total)
        if slots.renew(self.db, self.wish, holding):
            self.allotment.hold_until(began + self.wish.lease_seconds)
        if before != set(holding.fences):
            logger.info("this run has slots %s", holding)


def keeper_of(
    db: Database,
    settings: RunSettings,
    allotment: Allotment,
    run_id: int,
    answering_seconds: Callable[[], float],
) -> SlotKeeper | None:
    """Make the keeper of a run that shares slots; None if its slots are its own."""
    if not settings.shares_slots:
        return None
    return SlotKeeper(
        db, allotment, wish_of(settings, run_id), settings.server_grace_seconds, answering_seconds
    )


def wish_of(settings: RunSettings, run_id: int) -> Wish:
    """Say which slots a run wants."""
    return Wish(
        run_id=run_id,
        group=slots.group_name(settings.queues),
        wanted=settings.workers,
        most=settings.total,
        lease_seconds=settings.lease_seconds,
    )
