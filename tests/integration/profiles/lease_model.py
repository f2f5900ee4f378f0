"""A model of profiles and their leases, and what must hold between it and the tables."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
)

from bench.profile_storm_audit import History
from tests.integration.gate_worker import Worker
from tests.integration.standing_clock import Clock, empty
from worker.database.client import Database
from worker.errors import LeaseLost
from worker.models import Claim, Owner
from worker.profiles import lease_endings, store
from worker.profiles.states import State
from worker.profiles.store import NewProfile

SLOTS = 3
ACCOUNT = "a1"
PROFILES = (
    NewProfile("p0", account_id=ACCOUNT),
    NewProfile("p1", account_id=ACCOUNT, max_active_runs=2),
    NewProfile("p2", release_policy="review"),
)

TABLES = ("work_queue", "job_attempts", "profiles", "accounts", "profile_leases", "profile_events")


@dataclass
class ModelLease:
    """One hold: whose, and what its end would mean."""

    incarnation: int | None
    is_exclusive: bool
    step: tuple[str, str] | None = None
    is_expired: bool = False


@dataclass
class ModelProfile:
    """What a profile's row and leases must say."""

    most: int
    policy: str
    account: str | None
    state: State = State.AVAILABLE
    fence: int = 0
    leases: dict[int, ModelLease] = field(default_factory=dict)

    def has_room(self, *, exclusive: bool) -> bool:
        if any(lease.is_exclusive for lease in self.leases.values()):
            return False
        return not self.leases if exclusive else len(self.leases) < self.most

    def take(self, lease: ModelLease) -> int:
        self.fence += 1
        self.leases[self.fence] = lease
        if self.state is State.AVAILABLE:
            self.state = State.LEASED
        return self.fence

    def release(self, fence: int, *, review: bool = False) -> None:
        del self.leases[fence]
        if self.state is State.LEASED:
            free = State.LEASED if self.leases else State.AVAILABLE
            self.state = State.REVIEW_REQUIRED if review else free

    def end_unexplained(self, fence: int) -> None:
        lease = self.leases.pop(fence)
        if self.state is State.LEASED:
            self.state = State.STALE
        if self.state is State.STALE:
            self.state = self._doubted(lease)

    def _doubted(self, lease: ModelLease) -> State:
        step, url = lease.step or ("", "")
        if step == "submitting":
            return State.QUARANTINED
        if (step and url == "about:blank") or self.policy == "review":
            return State.REVIEW_REQUIRED
        return State.STALE


class LeaseWorld(RuleBasedStateMachine):
    """Profiles, workers and jobs beside a model of them, compared after every step."""

    def __init__(self, db: Database, clock: Clock) -> None:
        super().__init__()
        self.db, self.clock = db, clock
        empty(db, TABLES)
        store.add(db, list(PROFILES), "me")
        self.model = {
            new.id: ModelProfile(new.max_active_runs, new.release_policy, new.account_id)
            for new in PROFILES
        }
        self.is_paused = False
        self.incarnations = 100
        self.workers = [Worker(db.settings, slot, SLOTS) for slot in range(SLOTS)]
        self.claims: dict[int, Claim] = {}
        self.past: list[tuple[str, int]] = []
        self.histories: dict[str, History] = defaultdict(History)
        self.seen_event = 0
        for slot in range(SLOTS):
            self._new_incarnation(slot)

    def teardown(self) -> None:
        for worker in self.workers:
            worker.close()

    @invariant()
    def rows_are_as_the_model_says(self) -> None:
        rows = self.db.run_statement("SELECT id, state, fence FROM profiles")
        assert {row["id"]: (row["state"], row["fence"]) for row in rows} == {
            name: (profile.state.value, profile.fence) for name, profile in self.model.items()
        }
        rows = self.db.run_statement(
            "SELECT profile_id, fence, incarnation, last_step, review_reason FROM profile_leases"
        )
        assert {
            (row["profile_id"], row["fence"]): (row["incarnation"], row["last_step"])
            for row in rows
        } == {
            (name, fence): (lease.incarnation, lease.step[0] if lease.step else None)
            for name, profile in self.model.items()
            for fence, lease in profile.leases.items()
        }
        assert all(row["review_reason"] is None for row in rows)

    @invariant()
    def nobody_holds_too_much(self) -> None:
        for profile in self.model.values():
            held = profile.leases.values()
            assert len(held) <= profile.most
            assert len(held) <= 1 or not any(lease.is_exclusive for lease in held)
            assert bool(held) or profile.state is not State.LEASED
            assert not held or profile.state is not State.AVAILABLE

    @invariant()
    def every_change_is_an_event_that_the_table_allows(self) -> None:
        rows = self.db.run_statement(
            "SELECT * FROM profile_events WHERE id > %(after)s ORDER BY id",
            {"after": self.seen_event},
        )
        for row in rows:
            self.seen_event = row["id"]
            assert row["reason"]
            assert row["author"]
            if row["to_state"] is not None:
                assert list(self.histories[row["profile_id"]].add(row)) == []
        for name, history in self.histories.items():
            assert history.state == self.model[name].state
            assert history.held == set(self.model[name].leases)

    def _expect_refusal(self, name: str, fence: int) -> None:
        with pytest.raises(LeaseLost):
            lease_endings.release(
                self.db, name, fence, author="worker", reason="late", review="late"
            )

    def _pending(self) -> list[dict[str, Any]]:
        return self.db.run_statement(
            "SELECT id, profile, account, payload FROM work_queue "
            "WHERE status = 'pending' AND not_before IS NULL"
        )

    def _certain(self) -> list[int]:
        """Name jobs that a fresh look must find: no other job of their keys can be refused."""
        refused: set[str] = set()
        ready = []
        for row in self._pending():
            keys = {key for key in (row["profile"], row["account"]) if key}
            if self._is_ready(row):
                ready.append((row["id"], keys))
            else:
                refused |= keys
        return [job_id for job_id, keys in ready if not keys & refused]

    def _is_ready(self, row: dict[str, Any]) -> bool:
        if row["profile"] is None and row["account"] is None:
            return True
        exclusive = '"exclusive": true' in row["payload"]
        return any(
            profile.state in (State.AVAILABLE, State.LEASED)
            and not (self.is_paused and profile.account)
            and profile.has_room(exclusive=exclusive)
            for name, profile in self.model.items()
            if name == row["profile"] or (not row["profile"] and profile.account == row["account"])
        )

    def _enqueue(self, profile: str | None, account: str | None, *, exclusive: bool) -> None:
        payload = {"manifest": {"exclusive": True}} if exclusive else {}
        job_id = self.workers[0].queue.enqueue("visit", payload, max_attempts=50)
        self.db.run_statement(
            "UPDATE work_queue SET profile_id = %(p)s, account_id = %(a)s WHERE id = %(i)s",
            {"p": profile, "a": account, "i": job_id},
        )

    def _new_incarnation(self, slot: int) -> None:
        self.incarnations += 1
        self.workers[slot].owner = Owner(slot, self.incarnations)
