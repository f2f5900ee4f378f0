"""The slots that runs of one group share, as rows: taken when free, renewed, and given back.

A slot is one run's until its lease is over by the database's clock. The run that holds it stops
using it before that, so no two runs have one slot; what a change leaves undone, helpers do.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from worker.claiming.slot_plan import Plan, plan
from worker.database.client import Database, Row, Transaction
from worker.recovery.dead_owners import is_gone
from worker.slot_numbers import slots_text

# How long freed slots are left to the next host, before others move up.
SETTLED_SECONDS = 60.0
MAX_NAME = 191


@dataclass(frozen=True, slots=True)
class Wish:
    """What one run asks of its group: how many slots, of `most` in all if that is limited."""

    run_id: int
    group: str
    wanted: int
    most: int | None
    lease_seconds: float

    @property
    def settled_seconds(self) -> float:
        """How long free slots are left to a host that may come."""
        return min(SETTLED_SECONDS, self.lease_seconds)


@dataclass(frozen=True, slots=True)
class Holding:
    """The slots of one run, each with the fence it is held under, out of `total`."""

    total: int = 0
    fences: Mapping[int, int] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{slots_text(self.fences) or 'none'} of {self.total}"


@dataclass(frozen=True, slots=True)
class Look:
    """What a glance at the group shows; `holding` is all that was settled so far."""

    total: int
    most: int | None
    held: int
    mine: int
    expired: int
    settled_seconds: float

    def asks_for_change(self, wish: Wish, holding: Holding, *, may_expire: bool) -> bool:
        """Whether the run has to settle anew."""
        if self.mine != len(holding.fences) or self.total != holding.total:
            return True
        if self.mine > wish.wanted:
            return True
        free = self.expired if may_expire else 0
        if self.mine < wish.wanted and (self.most is None or self.held - free < self.most):
            return True
        has_to_move = max(holding.fences, default=-1) >= self.held
        return free > 0 or (has_to_move and self.settled_seconds >= wish.settled_seconds)


def group_name(queues: Sequence[str]) -> str:
    """Name the group of all runs that work these queues."""
    name = ",".join(sorted(set(queues)))
    digest = hashlib.sha256(name.encode()).hexdigest()
    return name if len(name) <= MAX_NAME else f"{name[: MAX_NAME - 65]} {digest}"


def settle(db: Database, wish: Wish, *, may_expire: bool = True) -> Holding:
    """Take what is free and wanted, leave what is too high; return the slots of the run.

    Slots of runs that are dead or have ended are free at once; those whose lease is over are free
    if `may_expire`. What the run holds itself it keeps, however late it comes.
    """
    while (found := db.transaction(lambda tx: _settle(tx, wish, may_expire=may_expire))) is None:
        db.execute("add_slot_group", name=wish.group)
    return found


def renew(db: Database, wish: Wish, holding: Holding) -> bool:
    """Hold the slots for longer; False if one of them is not the run's any more."""
    if not holding.fences:
        return True
    renewed = db.execute(
        "renew_slots",
        name=wish.group,
        run_id=wish.run_id,
        slots=tuple(holding.fences),
        fences=tuple(set(holding.fences.values())),
        lease_seconds=wish.lease_seconds,
    )
    return renewed == len(holding.fences)


def look(db: Database, wish: Wish) -> Look | None:
    """Glance at the group; None when there is none."""
    row = db.fetch_one("look_at_slots", name=wish.group, run_id=wish.run_id)
    if row is None:
        return None
    counts = {name: int(row[name]) for name in ("total", "held", "mine", "expired")}
    return Look(most=row["most"], settled_seconds=float(row["settled_seconds"]), **counts)


def release(db: Database, wish: Wish) -> None:
    """Let others have the run's slots, at once."""

    def leave(tx: Transaction) -> None:
        tx.execute("enter_slot_group", name=wish.group)
        held = tx.fetch_all("read_slots", name=wish.group)
        own = [row["slot"] for row in held if row["run_id"] == wish.run_id]
        left = [row["slot"] for row in held if row["run_id"] != wish.run_id]
        if own:
            _free(tx, wish.group, own)
            group = tx.fetch_all("read_slot_group", name=wish.group)[0]
            _set_total(tx, wish.group, max(left, default=-1) + 1, group["most"], has_changed=True)

    db.transaction(leave)


def note(db: Database | Transaction, run_id: int, slots: Collection[int], total: int) -> None:
    """Show in a run's row which slots it has."""
    db.execute("note_slots_of_run", run_id=run_id, slots=slots_text(slots), total=total)


def who_keeps_out(db: Database, wish: Wish) -> str | None:
    """Say who holds all slots of a group whose number is limited; None if there is one left."""
    group = db.fetch_one("read_slot_group", name=wish.group)
    most = wish.most if group is None or wish.most is not None else group["most"]
    held = [row for row in db.fetch_all("read_slots", name=wish.group) if not _is_free(row)]
    if most is None or len(held) < most:
        return None
    by_host: dict[str, list[int]] = {}
    for row in held:
        by_host.setdefault(row["host"], []).append(row["slot"])
    return "; ".join(f"{host} has {slots_text(slots)}" for host, slots in by_host.items())


def _settle(tx: Transaction, wish: Wish, *, may_expire: bool) -> Holding | None:
    if tx.execute("enter_slot_group", name=wish.group) == 0:
        return None
    group = tx.fetch_all("read_slot_group", name=wish.group)[0]
    held = tx.fetch_all("read_slots", name=wish.group)
    own = {row["slot"]: row["fence"] for row in held if row["run_id"] == wish.run_id}
    others = [row for row in held if row["run_id"] != wish.run_id]
    free = [row["slot"] for row in others if _is_free(row, may_expire=may_expire)]
    taken = {row["slot"] for row in others} - set(free)
    # The first of a group says anew how many slots there may be.
    most = wish.most if wish.most is not None or not (taken or own) else group["most"]
    is_settled = float(group["settled_seconds"]) >= wish.settled_seconds
    planned = plan(own, taken, wanted=wish.wanted, most=most, may_move=is_settled)
    has_changed = bool(planned.taken or planned.left or free)
    _free(tx, wish.group, [*free, *planned.left])
    _take(tx, wish, planned, group["fence"])
    if has_changed or (planned.total, most) != (group["total"], group["most"]):
        _set_total(tx, wish.group, planned.total, most, has_changed=has_changed)
    note(tx, wish.run_id, planned.slots, planned.total)
    new = dict.fromkeys(planned.taken, int(group["fence"]))
    return Holding(planned.total, new | {slot: own[slot] for slot in planned.kept})


def _take(tx: Transaction, wish: Wish, planned: Plan, fence: int) -> None:
    rows = [
        {
            "name": wish.group,
            "slot": slot,
            "run_id": wish.run_id,
            "fence": fence,
            "lease_seconds": wish.lease_seconds,
        }
        for slot in sorted(planned.taken)
    ]
    if rows:
        tx.insert_many("take_slot", rows)


def _free(tx: Transaction, group: str, slots: Sequence[int]) -> None:
    if slots:
        tx.execute("free_slots", name=group, slots=tuple(slots))


def _set_total(
    tx: Transaction, group: str, total: int, most: int | None, *, has_changed: bool
) -> None:
    tx.execute("set_slot_total", name=group, total=total, most=most, has_changed=has_changed)


def _is_free(row: Row, *, may_expire: bool = True) -> bool:
    """Whether a slot's run is over, is dead, or has let its lease run out."""
    if row["host"] is None or row["ended_at"] is not None or is_gone(row):
        return True
    return may_expire and bool(row["is_over"])
