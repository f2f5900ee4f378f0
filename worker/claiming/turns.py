"""Orders: the jobs of one order key, or of an ordered account, run by id and one after the other.

Decided in the claim's transaction, while the order's row in `turns` is written: so it holds over
slots and hosts. What became of the jobs before is read from their rows, so no crash can spoil it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from worker.database.client import Database, Row, Transaction
from worker.guards.keys import ClosedKey, order_key
from worker.installation import command_line
from worker.models import Candidate
from worker.profiles import manifest

KEY = "key:"
_FAILED = "failed:"
# The job before is done as soon as it is done.
_BUSY_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Order:
    """The places whose jobs run one after the other; `on_failure` is the account's choice."""

    name: str
    places: tuple[str, ...]
    on_failure: str | None = None

    def __str__(self) -> str:
        kind, _, value = self.name.partition(":")
        return f"order key {value}" if kind == "key" else f"account {value}, which is ordered"

    @property
    def quoted(self) -> str:
        """Its name in quotes: failures that differ in that alone are one group."""
        kind, _, value = self.name.partition(":")
        return f"order key {value!r}" if kind == "key" else f"account {value!r}, which is ordered,"


@dataclass(frozen=True, slots=True)
class Stopped:
    """A job that is not to be done, because one before it failed."""

    reason: str


# What stands between a job and its claim; None: nothing.
Turn = ClosedKey | Stopped | None


@dataclass(frozen=True, slots=True)
class Orders:
    """All orders as searches need to know them."""

    has_keys: bool = False
    by_place: dict[str, Order] = field(default_factory=dict)

    def find(self, place: str | None) -> Order | None:
        """Return the order that a place belongs to, if it is one."""
        if place is None:
            return None
        return Order(place, (place,)) if place.startswith(KEY) else self.by_place.get(place)

    def conditions(self) -> tuple[tuple[str, ...], dict[str, Any]]:
        """Name the condition that leaves all but the first of each order out of a search."""
        if not self.has_keys and not self.by_place:
            return (), {}
        going_on = [place for place, order in self.by_place.items() if order.on_failure != "wait"]
        return ("first_in_order",), {
            "ordered_places": tuple(self.by_place) or ("",),
            "going_on_places": tuple(going_on) or ("",),
        }


def read(db: Database, *, has_keys: bool, has_accounts: bool) -> Orders:
    """Read which accounts are ordered, with the places of each."""
    orders = _grouped(db.fetch_all("ordered_places")) if has_accounts else []
    return Orders(has_keys, {place: order for order in orders for place in order.places})


def order_of(reader: Database | Transaction, candidate: Candidate) -> Order | None:
    """Find the order that a job belongs to: by its own key, or else by its account."""
    place = candidate.order_place
    if place is None or place.startswith(KEY):
        return Orders().find(place)
    kind, _, name = place.partition(":")
    owner: dict[str, Any] = {
        each: name if each == kind else None for each in ("account", "profile")
    }
    rows = reader.fetch_all("ordered_places_of_owner", **owner)
    if not rows:
        return None
    own = {**rows[0], "place": f"account:{rows[0]['account_id']}"}
    return _grouped([own, *(row for row in rows if row["place"] is not None)])[0]


def problem_of(candidate: Candidate, is_temporary: bool) -> str | None:
    """Say why a job cannot be in the order that it names, if it cannot."""
    has_key = candidate.order_place is not None and candidate.order_place.startswith(KEY)
    return manifest.TEMPORARY_IN_ORDER if has_key and is_temporary else None


def admit(tx: Transaction, candidate: Candidate, order: Order | None) -> Turn:
    """Judge a claim by its order, in which nobody else can claim until this one is decided."""
    if order is None:
        return None
    tx.execute("take_turn", name=order.name, job_id=candidate.job_id)
    return judge(tx, candidate, order)


def judge(reader: Database | Transaction, candidate: Candidate, order: Order) -> Turn:
    """Say what a job of an order has to wait for, or that it is not to be done; None: nothing."""
    before = _first(reader, order.places)
    if before is not None and before["id"] < candidate.job_id:
        return _behind(reader, candidate, order, before)
    if running := reader.fetch_all("running_in_order", places=order.places, id=candidate.job_id):
        said = f"job {running[0]['id']} of the same order is running"
        return _closed(candidate, order, said, _BUSY_SECONDS)
    failed = _first_failed(reader, order)
    if failed is None or failed["id"] > candidate.job_id:
        return None
    match _choice(order, failed):
        case "skip":
            return None
        case "stop":
            said = f"not done, because job {failed['id']} before it failed"
            return Stopped(f"{said}, and {order.quoted} stops then")
    return _closed(candidate, order, _waited_for(failed), None)


def with_a_failure(db: Database, places: tuple[str, ...]) -> frozenset[str]:
    """Name the places where a job has failed that others may wait for."""
    if not places:
        return frozenset()
    rows = db.fetch_all("failed_places", places=tuple(f"{_FAILED}{place}" for place in places))
    return frozenset(row["order_place"].removeprefix(_FAILED) for row in rows)


def first_ready(db: Database, order: Order) -> Row | None:
    """Read the job whose turn it is, if it is ready; others may still hold it back."""
    first = _first(db, order.places)
    if first is None or first["status"] != "pending" or first["due_seconds"] is not None:
        return None
    return db.fetch_one("candidate_by_id", id=first["id"])


def forget_old(db: Database) -> None:
    """Remove what is left of orders that had no claim for a day."""
    db.execute("forget_turns")


def _behind(
    reader: Database | Transaction, candidate: Candidate, order: Order, before: Row
) -> ClosedKey:
    """Say what a job waits for that is not the first: for what that one waits, if it failed."""
    if before["status"] == "pending" and before["due_seconds"] is None:
        failed = _first_failed(reader, order)
        is_held = failed is not None and failed["id"] < before["id"]
        if failed is not None and is_held and _choice(order, failed) == "wait":
            return _closed(candidate, order, _waited_for(failed), None)
    return _closed(candidate, order, *_state_of(before))


def _choice(order: Order, failed: Row) -> str:
    """Say what becomes of the jobs behind one that failed: `wait`, `skip` or `stop`."""
    return str(order.on_failure or failed["order_on_failure"] or "wait")


def _waited_for(failed: Row) -> str:
    """Name what lets an order go on; what may be half done is only repeated at a person's word."""
    said = f"job {failed['id']} failed and its order waits; "
    again = command_line("retry", "--id", failed["id"])
    if failed["irreversible_step"] is not None:
        said = f"job {failed['id']} failed and may be half done, and its order waits; "
        again = command_line("retry", "--half-done", "--id", failed["id"])
        again = f"look at the site, then {again}"
    return f"{said}{again}, or discard it, and the others go on"


def _first_failed(reader: Database | Transaction, order: Order) -> Row | None:
    return _first(reader, tuple(f"{_FAILED}{place}" for place in order.places))


def _first(reader: Database | Transaction, places: tuple[str, ...]) -> Row | None:
    rows = [row for place in places for row in reader.fetch_all("first_at_place", place=place)]
    return min(rows, key=lambda row: row["id"], default=None)


def _state_of(before: Row) -> tuple[str, float | None]:
    if before["status"] == "in_progress":
        return f"job {before['id']} before it is running", _BUSY_SECONDS
    if before["due_seconds"] is not None:
        due = max(float(before["due_seconds"]), 0.0)
        return f"job {before['id']} before it waits for another {due:.0f} s", due
    return f"job {before['id']} comes before it", _BUSY_SECONDS


def _closed(candidate: Candidate, order: Order, said: str, seconds: float | None) -> ClosedKey:
    assert candidate.order_place is not None
    return ClosedKey(order_key(candidate.order_place), f"{said} ({order})", seconds)


def _grouped(rows: list[Row]) -> list[Order]:
    places: dict[str, list[str]] = {}
    choices: dict[str, str] = {}
    for row in rows:
        places.setdefault(row["account_id"], []).append(row["place"])
        choices[row["account_id"]] = row["on_failure"]
    return [
        Order(f"account:{account}", tuple(found), choices[account])
        for account, found in places.items()
    ]
