"""What cannot be claimed now: what limits, breakers, profiles and proxies say, as searches need it.

Read at most twice a second, so it may be a moment old: it spares searches, it does not guarantee.
What it lets through is decided, under locks, by the gate.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from worker.claiming import turns
from worker.claiming.scope import Scope
from worker.claiming.turns import Orders
from worker.database.client import Database
from worker.guards import breakers, limits
from worker.guards.keys import GLOBAL, PROXIES, ClosedKey
from worker.installation import command_line
from worker.models import Candidate
from worker.profiles import account_hours, manifest, readiness
from worker.proxies import choice
from worker.queue import pause

MAX_AGE_SECONDS = 0.5

# The kind of a key, the condition that leaves its jobs out, and that condition's parameter.
_CONDITIONS = (
    ("queue", "not_in_closed_queues", "closed_queues"),
    ("site", "not_at_closed_sites", "closed_sites"),
    ("task", "not_of_closed_tasks", "closed_tasks"),
    ("task-at-site", "not_of_tasks_failing_at_sites", "failing_at_sites"),
    ("task-at-profile", "not_of_tasks_failing_in_profiles", "failing_in_profiles"),
    ("account", "not_of_closed_accounts", "closed_accounts"),
    ("profile", "not_of_closed_profiles", "closed_profiles"),
    ("address", "not_of_waiting_accounts", "waiting_accounts"),
    ("exit", "not_where_all_proxies_cool", "cooling_sites"),
    ("route", "not_on_cooling_routes", "cooling_routes"),
    ("order", "not_in_closed_orders", "closed_orders"),
)

_OWNERS = ("profile:", "account:", "address:")


class ClosedKeys:
    """The closed keys as one worker knows them."""

    def __init__(self, db: Database, scope: Scope | None = None) -> None:
        self._db = db
        # Whose jobs they are, and whether the worker has met others: those are left out, too.
        self.scope = scope or Scope()
        self.has_strangers = False
        self._read_at = float("-inf")
        self.closed: dict[str, ClosedKey] = {}
        self.watched: frozenset[str] = frozenset()
        # Breakers that wait for a success.
        self.tripped: frozenset[str] = frozenset()
        # Whose jobs run one after the other.
        self.orders = Orders()

    def refresh(self, *, at_once: bool = False) -> None:
        """Read them again, unless that was just done; `at_once` even then."""
        if not at_once and time.monotonic() - self._read_at < MAX_AGE_SECONDS:
            return
        used = self._db.fetch_all("is_anything_gated")[0]
        if used["is_gated"]:
            self._read()
        else:
            self.closed, self.watched, self.tripped = {}, frozenset(), frozenset()
        self.orders = turns.read(
            self._db,
            has_keys=bool(used["has_order_keys"]),
            has_accounts=bool(used["has_ordered_accounts"]),
        )
        self._read_at = time.monotonic()

    def _read(self) -> None:
        limited, tripped = limits.read(self._db), breakers.tripped(self._db)
        by_limits = limits.closed_keys(self._db, limited)
        by_hours = account_hours.closed_keys(self._db)
        by_breakers = breakers.closed_keys(tripped)
        found = [
            *by_limits,
            *by_hours,
            *by_breakers,
            *_paused_queues(self._db),
            *readiness.closed_keys(self._db, limited, [*by_limits, *by_hours], by_breakers),
            *choice.closed_keys(self._db),
        ]
        # Of what closes one key, that which opens last.
        self.closed = {item.key: item for item in sorted(found, key=_opens_in_seconds)}
        self.tripped = frozenset(row["name"] for row in tripped)
        self.watched = self.tripped | {row["name"] for row in limited}

    def close(self, closed: ClosedKey, candidate: Candidate | None = None) -> None:
        """Leave a key alone that the gate has just refused, until the next look.

        A job that belongs to the key only by its profile is found by that profile.
        """
        self.closed[closed.key] = closed
        if (
            candidate is not None
            and candidate.profile_id
            and closed.key not in self.keys_of(candidate)
        ):
            key = f"profile:{candidate.profile_id}"
            self.closed[key] = replace(closed, key=key)

    def keys_of(self, candidate: Candidate) -> tuple[str, ...]:
        """Name every key that a job belongs to, as far as this run's tasks are known."""
        return self.scope.keys_of(candidate)

    def is_watched(self, candidate: Candidate) -> bool:
        """Whether a job can only be claimed through the gate."""
        if candidate.profile_id or candidate.account_id or candidate.order_place:
            return True
        if manifest.is_given(candidate.payload):
            return True
        return bool(self.watched) and not self.watched.isdisjoint(self.keys_of(candidate))

    def is_closed(self, candidate: Candidate) -> bool:
        """Whether there is no use in trying to claim a job of this run now."""
        return bool(self.closed) and bool(self.closed_keys_of(candidate))

    def closed_keys_of(self, candidate: Candidate) -> set[str]:
        """Name the closed keys that a job belongs to."""
        return self.closed.keys() & self.keys_of(candidate)

    def is_left_out(self, candidate: Candidate) -> bool:
        """Whether a job that no search of this run has found is closed, or is not the run's."""
        return not self.scope.takes(candidate) or self.is_closed(candidate)

    def meets_strangers(self, found: Iterable[Candidate]) -> bool:
        """Note that jobs are not this run's, the first time that there are such among some."""
        if self.has_strangers or all(map(self.scope.takes, found)):
            return False
        self.has_strangers = True
        return True

    @property
    def is_all_closed(self) -> bool:
        return GLOBAL in self.closed

    @property
    def next_opening_seconds(self) -> float | None:
        """Say when the first of them opens by itself, if one does."""
        known = [item.seconds for item in self.closed.values() if item.seconds is not None]
        return min(known, default=None)

    def busy(self) -> dict[str, tuple[str, ...]]:
        """Name the profiles and accounts that are only busy; empty when there are none."""
        found: dict[str, list[str]] = {"profile": [], "account": []}
        for closed in self.closed.values():
            kind, _, value = closed.key.partition(":")
            if kind in found and closed.seconds is not None:
                found[kind].append(value)
        return {kind: tuple(names) for kind, names in found.items()} if any(found.values()) else {}

    def conditions(self) -> tuple[tuple[str, ...], dict[str, Any]]:
        """Name the conditions that leave closed jobs out of a search, with their parameters."""
        others, params = self.scope.conditions() if self.has_strangers else ((), {})
        names = list(others)
        for kind, condition, parameter in _CONDITIONS:
            if values := self._named(kind):
                names.append(condition)
                params[parameter] = values
        if PROXIES in self.closed:
            names.append("without_proxied_jobs")
        if names:
            # No task has the empty name, where all of them have a page.
            params["without_browser"] = tuple(self.scope.without_browser) or ("",)
        ordered, places = self.orders.conditions()
        return (*names, *ordered), params | places

    def conditions_on_jobs(self) -> tuple[tuple[str, ...], dict[str, Any]]:
        """Name only the conditions that hold whatever becomes of a job: its run, queue and turn."""
        others, params = self.scope.conditions() if self.has_strangers else ((), {})
        if queues := self._named("queue"):
            others, params = (*others, "not_in_closed_queues"), params | {"closed_queues": queues}
        ordered, places = self.orders.conditions()
        return (*others, *ordered), params | places

    def _named(self, kind: str) -> tuple[str, ...]:
        prefix = f"{kind}:"
        return tuple(key.removeprefix(prefix) for key in self.closed if key.startswith(prefix))


class ClosedOwners:
    """The opposite: lets a search find nothing but the jobs of closed profiles and accounts."""

    def __init__(self, closures: ClosedKeys) -> None:
        self._closures = closures

    @property
    def names(self) -> frozenset[str]:
        """The keys of those owners; empty while everything is closed, whoever owns it."""
        if self._closures.is_all_closed:
            return frozenset()
        return frozenset(key for key in self._closures.closed if key.startswith(_OWNERS))

    def conditions(self) -> tuple[tuple[str, ...], dict[str, Any]]:
        """Name the conditions of such a search, with their parameters."""
        named: dict[str, list[str]] = {"profile": [""], "account": [""]}
        for key in self.names:
            kind, _, name = key.partition(":")
            named["profile" if kind == "profile" else "account"].append(name)
        owned = {"closed_profiles": named["profile"], "closed_accounts": named["account"]}
        names, params = self._closures.conditions_on_jobs()
        return ("of_closed_owners", *names), params | {k: tuple(v) for k, v in owned.items()}

    def meets_strangers(self, found: Iterable[Candidate]) -> bool:
        """Never search again on account of jobs that are not this run's: they are few."""
        return False


def _paused_queues(db: Database) -> list[ClosedKey]:
    return [
        ClosedKey(
            f"queue:{row['queue']}",
            f"the queue {row['queue']} is paused by {row['set_by']} ({row['reason']}); "
            f"resume with: {command_line('resume', '--queue', row['queue'])}",
        )
        for row in pause.paused_queues(db)
    ]


def _opens_in_seconds(closed: ClosedKey) -> float:
    return float("inf") if closed.seconds is None else closed.seconds
