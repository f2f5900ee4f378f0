"""The audit of a storm: what the tasks' locks and ledger say, and what the profiles' events say.

Both must tell of one holder at a time, of fences that only grow, and of an explanation for every
hold that ended. By the ledger, no irreversible step was taken twice.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.profile_storm_task import ORDER
from worker.database.client import Database, Row
from worker.drill import finish_ledger
from worker.profiles.states import TRANSITIONS, State

# Events that end a hold, with its fence.
ENDINGS = frozenset({"released", "review_wanted", "stale", "lease_ended"})
# The only two ways out of stale: somebody has looked.
LOOKED_AT = frozenset({"checked", "cleared"})


@dataclass(slots=True)
class Findings:
    """What came of a storm; every list is empty when all is well."""

    jobs: int = 0
    done: int = 0
    errors: int = 0
    unexplained_errors: list[int] = field(default_factory=list)
    unfinished: list[int] = field(default_factory=list)
    finished_twice: list[int] = field(default_factory=list)
    orders: int = 0
    half_done: int = 0
    ordered_twice: list[str] = field(default_factory=list)
    # What is not done but half done, and yet no dead letter; or a dead letter for no such reason.
    wrong_endings: list[str] = field(default_factory=list)
    # Done, but never ordered; or in error by an irreversible step that is not said to be half done.
    orders_not_told: list[str] = field(default_factory=list)
    clashes: list[str] = field(default_factory=list)
    fences_not_growing: list[str] = field(default_factory=list)
    late_writes_accepted: list[str] = field(default_factory=list)
    late_writes_refused: int = 0
    bad_histories: list[str] = field(default_factory=list)
    left_over: list[str] = field(default_factory=list)
    leases: int = 0
    unexplained_endings: int = 0
    checked: int = 0
    set_aside: int = 0
    conflicts: int = 0

    @property
    def problems(self) -> dict[str, list[Any]]:
        names = (
            *("unexplained_errors", "unfinished", "finished_twice", "clashes"),
            *("ordered_twice", "orders_not_told", "wrong_endings"),
            *("fences_not_growing", "late_writes_accepted", "bad_histories", "left_over"),
        )
        return {name: getattr(self, name) for name in names if getattr(self, name)}


def audit(db: Database, ledger: Path, shared: set[str], found: Findings) -> None:
    """Add to the findings what the ledger, the queue and the profiles' events say."""
    _read_jobs(db, found)
    _read_ledger(ledger, shared, found)
    _read_orders(db, ledger, found)
    histories: dict[str, list[Row]] = defaultdict(list)
    for row in db.run_statement("SELECT * FROM profile_events ORDER BY id"):
        found.conflicts += row["event"] == "profile_lock_conflict"
        if row["to_state"] is not None:
            histories[row["profile_id"]].append(row)
    for row in db.run_statement("SELECT id, state, fence FROM profiles ORDER BY id"):
        _read_history(row, histories[row["id"]], found)
    for row in db.run_statement("SELECT profile_id, holder FROM profile_leases"):
        found.left_over.append(f"{row['profile_id']} is leased by {row['holder']}")


def _read_jobs(db: Database, found: Findings) -> None:
    for row in db.run_statement("SELECT id, status, last_error, irreversible_step FROM work_queue"):
        found.jobs += 1
        found.done += row["status"] == "done"
        found.errors += row["status"] == "error"
        if row["status"] == "error" and not row["last_error"]:
            found.unexplained_errors.append(row["id"])
        if row["status"] in ("pending", "in_progress"):
            found.unfinished.append(row["id"])
        if (row["status"] == "error") != (row["irreversible_step"] is not None):
            found.wrong_endings.append(f"job {row['id']} is {row['status']}: {row['last_error']}")
    times = finish_ledger.finishes(db)
    found.finished_twice += [job for job, finishes in times.items() if finishes > 1]


def _read_ledger(ledger: Path, shared: set[str], found: Findings) -> None:
    latest: dict[str, int] = defaultdict(int)
    seen: set[tuple[str, int]] = set()
    for line in ledger.read_text(encoding="ascii").splitlines():
        what, profile, number, *_ = line.split()
        if what == "clash":
            found.clashes.append(line)
        if what in ("end", ORDER):
            continue
        fence = int(number)
        # Two who share a profile may begin in either order, but never with the same fence.
        is_old = (profile, fence) in seen if profile in shared else fence <= latest[profile]
        if is_old:
            found.fences_not_growing.append(line)
        latest[profile] = max(fence, latest[profile])
        seen.add((profile, fence))


def _read_orders(db: Database, ledger: Path, found: Findings) -> None:
    """Compare what was ordered, by the ledger, with what the queue says of the jobs that order."""
    ordered = Counter(
        int(line.split()[3])
        for line in ledger.read_text(encoding="ascii").splitlines()
        if line.startswith(f"{ORDER} ")
    )
    found.orders = ordered.total()
    found.ordered_twice += [
        f"job {job}: {times} times" for job, times in ordered.items() if times > 1
    ]
    for row in db.run_statement(
        "SELECT id, status, irreversible_step FROM work_queue "
        "WHERE JSON_EXTRACT(payload, '$.irreversible') = TRUE"
    ):
        is_half_done = row["irreversible_step"] is not None
        found.half_done += is_half_done
        if row["status"] == "done" and not ordered[row["id"]]:
            found.orders_not_told.append(f"job {row['id']} is done, and ordered nothing")
        if row["status"] == "error" and ordered[row["id"]] and not is_half_done:
            found.orders_not_told.append(f"job {row['id']} ordered, and is a plain error")


def _read_history(profile: Row, events: list[Row], found: Findings) -> None:
    history = History()
    for row in events:
        found.bad_histories += [
            f"{profile['id']}, event {row['id']} ({row['event']}): {why}"
            for why in history.add(row)
        ]
        found.leases += row["event"] == "leased"
        found.unexplained_endings += row["event"] in ("stale", "lease_ended")
        found.checked += row["event"] == "checked"
        found.set_aside += row["event"] in ("doubted", "review_wanted")
    if (history.state, history.fence) != (profile["state"], profile["fence"]):
        found.bad_histories.append(
            f"{profile['id']}: its events end with {history.state}, fence {history.fence}"
        )
    if history.held or profile["state"] != State.AVAILABLE:
        found.left_over.append(f"{profile['id']} is {profile['state']}, held: {history.held}")


@dataclass(slots=True)
class History:
    """One profile's life as its events tell it."""

    state: str | None = None
    fence: int = 0
    held: set[int] = field(default_factory=set)

    def add(self, row: Row) -> Iterator[str]:
        """Follow one event; say what is wrong with it."""
        yield from self._check_state(row["from_state"], State(row["to_state"]), row["event"])
        if not row["reason"] or not row["author"]:
            yield "no reason or no author"
        if row["event"] == "leased":
            if row["fence"] <= self.fence:
                yield f"fence {row['fence']} after {self.fence}"
            self.fence = row["fence"]
            self.held.add(self.fence)
        elif row["event"] in ENDINGS:
            if row["fence"] not in self.held:
                yield f"fence {row['fence']} was not held any more"
            self.held.discard(row["fence"])

    def _check_state(self, old: str | None, new: State, event: str) -> Iterator[str]:
        if old != self.state:
            yield f"it was {self.state}, not {old}"
        if old is not None and old != new and new not in TRANSITIONS[State(old)]:
            yield f"no way leads from {old} to {new}"
        if old == State.STALE and new is State.AVAILABLE and event not in LOOKED_AT:
            yield "nobody looked at it"
        self.state = new.value
