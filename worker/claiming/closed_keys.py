"""What cannot be claimed now: keys such as `site:example.com` that are full, tripped or not ready.

Read at most twice a second, so it may be a moment old: it spares searches, it does not guarantee.
What it lets through is decided, under locks, by the gate.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from typing import Any

from worker.database.client import Database, Row
from worker.models import Candidate
from worker.proxies.blocks import closed_routes, route_keys
from worker.proxies.store import shortage

MAX_AGE_SECONDS = 0.5
GLOBAL = "global"
# What workers hold is free as soon as their job ends; what is stale, as soon as it is checked.
_SOON_SECONDS = 2.0
# Whatever is not done in a profile goes out through a proxy, where there are any.
PROXIES = "proxies"

# The kind of a key, the condition that leaves its jobs out, and that condition's parameter.
_CONDITIONS = (
    ("site", "not_at_closed_sites", "closed_sites"),
    ("task", "not_of_closed_tasks", "closed_tasks"),
    ("account", "not_of_closed_accounts", "closed_accounts"),
    ("profile", "not_of_closed_profiles", "closed_profiles"),
    ("address", "not_of_waiting_accounts", "waiting_accounts"),
    ("exit", "not_where_all_proxies_cool", "cooling_sites"),
    ("route", "not_on_cooling_routes", "cooling_routes"),
)


@dataclass(frozen=True, slots=True)
class Closure:
    """A key that lets nothing through, why, and for how long (None: until somebody says)."""

    key: str
    reason: str
    seconds: float | None = None


def keys_of(candidate: Candidate) -> tuple[str, ...]:
    """Name every key that a job belongs to."""
    keys = [GLOBAL, f"task:{candidate.task}"]
    if candidate.site:
        keys.append(f"site:{candidate.site}")
    if candidate.account_id:
        keys.append(f"account:{candidate.account_id}")
    if candidate.profile_id:
        keys.append(f"profile:{candidate.profile_id}")
    else:
        keys.append(PROXIES)
        if candidate.account_id:
            keys.append(f"address:{candidate.account_id}")
    return (*keys, *route_keys(candidate))


class ClosedKeys:
    """The closed keys as one worker knows them."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._read_at = float("-inf")
        self.closed: dict[str, Closure] = {}
        self.watched: frozenset[str] = frozenset()

    def refresh(self, *, at_once: bool = False) -> None:
        """Read them again, unless that was just done; `at_once` even then."""
        if not at_once and time.monotonic() - self._read_at < MAX_AGE_SECONDS:
            return
        if self._db.fetch_all("is_anything_gated")[0]["is_gated"]:
            self._read()
        else:
            self.closed, self.watched = {}, frozenset()
        self._read_at = time.monotonic()

    def _read(self) -> None:
        limits = self._db.fetch_all("read_limits")
        breakers = self._db.fetch_all("read_tripped_breakers")
        found = [
            *closed_by_limits(self._db, limits),
            *closed_by_breakers(breakers),
            *closed_by_vendors(self._db, limits),
            *closed_by_profiles(self._db),
            *closed_by_proxies(self._db),
        ]
        self.closed = {closure.key: closure for closure in found}
        self.watched = frozenset(row["name"] for row in (*limits, *breakers))

    def close(self, closure: Closure) -> None:
        """Leave a key alone that the gate has just refused, until the next look."""
        self.closed[closure.key] = closure

    def is_watched(self, candidate: Candidate) -> bool:
        """Whether a job can only be claimed through the gate."""
        if candidate.profile_id or candidate.account_id:
            return True
        return bool(self.watched) and not self.watched.isdisjoint(keys_of(candidate))

    def is_closed(self, candidate: Candidate) -> bool:
        """Whether there is no use in trying to claim a job now."""
        return bool(self.closed) and any(key in self.closed for key in keys_of(candidate))

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
        for closure in self.closed.values():
            kind, _, value = closure.key.partition(":")
            if kind in found and closure.seconds is not None:
                found[kind].append(value)
        return {kind: tuple(names) for kind, names in found.items()} if any(found.values()) else {}

    def conditions(self) -> tuple[tuple[str, ...], dict[str, Any]]:
        """Name the conditions that leave closed jobs out of a search, with their parameters."""
        names, params = [], {}
        for kind, condition, parameter in _CONDITIONS:
            prefix = f"{kind}:"
            values = [key.removeprefix(prefix) for key in self.closed if key.startswith(prefix)]
            if values:
                names.append(condition)
                params[parameter] = tuple(values)
        if PROXIES in self.closed:
            names.append("without_proxied_jobs")
        return tuple(names), params


def closed_by_limits(db: Database, limits: list[Row]) -> list[Closure]:
    """List the keys whose limit is reached."""
    closed = []
    in_use: Counter[str] = Counter()
    if any(row["concurrent"] is not None for row in limits):
        for job in db.fetch_all("keys_in_progress"):
            in_use.update(
                (
                    GLOBAL,
                    f"site:{job['site']}",
                    f"task:{job['task']}",
                    f"account:{job['account_id']}",
                )
            )
    for row in limits:
        refusal = limit_reached(row, in_use[row["name"]])
        closed += [refusal] if refusal else []
    return closed


def limit_reached(limit: Row, in_use: int) -> Closure | None:
    """Tell whether a limit lets nothing more start now."""
    name, cap = limit["name"], limit["concurrent"]
    if cap is not None and in_use >= cap:
        seconds = None if cap == 0 else 1.0
        return Closure(name, f"{in_use} of {cap} jobs of {name} are running", seconds)
    wait = float(limit["wait_seconds"])
    if wait > 0:
        return Closure(name, f"{name} may start {limit['per_minute']:g} jobs a minute", wait)
    return None


def closed_by_breakers(breakers: list[Row]) -> list[Closure]:
    """List the keys whose breaker is open."""
    found = [breaker_closed(row) for row in breakers]
    return [closure for closure in found if closure is not None]


def breaker_closed(breaker: Row) -> Closure | None:
    """Tell whether a breaker lets nothing through now."""
    name, wait = breaker["name"], breaker["wait_seconds"]
    if breaker["state"] == "closed":
        return None
    if wait is None:
        return Closure(name, f"the breaker of {name} is held open: {breaker['reason']}")
    if float(wait) <= 0:
        return None
    if breaker["state"] == "half_open":
        return Closure(name, f"one job is out to see whether {name} works again", float(wait))
    return Closure(name, f"the breaker of {name} is open: {breaker['reason']}", float(wait))


def closed_by_profiles(db: Database) -> list[Closure]:
    """List the profiles and accounts that cannot be used now."""
    closed = []
    for row in db.fetch_all("unready_profiles"):
        key, name = f"profile:{row['id']}", f"profile {row['id']}"
        if row["paused_reason"] is not None:
            reason = f"account {row['account_id']} is paused: {row['paused_reason']}"
            closed.append(Closure(key, reason))
        elif row["state"] == "leased":
            left = row["person_seconds"]
            soon = _SOON_SECONDS if left is None else float(left)
            closed.append(Closure(key, f"{name} is in use by {row['holder']}", soon))
        else:
            reason = f"{name} is {row['state'].replace('_', ' ')}: {row['state_reason'] or ''}"
            seconds = _SOON_SECONDS if row["state"] == "stale" else None
            closed.append(Closure(key, reason.strip(), seconds))
    for row in db.fetch_all("unready_accounts"):
        name = f"account {row['id']}"
        if row["paused_reason"] is not None:
            reason = f"{name} is paused by {row['paused_by']}: {row['paused_reason']}"
            closed.append(Closure(f"account:{row['id']}", reason))
        else:
            reason = f"no profile of {name} can be used now"
            soon = row["soon_seconds"]
            seconds = None if soon is None else float(soon)
            closed.append(Closure(f"account:{row['id']}", reason, seconds))
    closed += closed_by_profile_proxies(db)
    return closed


def closed_by_profile_proxies(db: Database) -> list[Closure]:
    """List the profiles whose proxy is out of use."""
    closed = []
    for row in db.fetch_all("profiles_without_proxy"):
        proxy = row if row["name"] is not None else None
        if trouble := proxy_trouble(row["id"], row["proxy"], row["wanted_region"], proxy):
            closed.append(Closure(f"profile:{row['id']}", *trouble))
    return closed


def proxy_trouble(
    profile_id: str, name: str, wanted_region: str | None, proxy: Row | None
) -> tuple[str, float | None] | None:
    """Say why a profile's proxy cannot be used now, and for how long; None when it can."""
    who = f"proxy {name} of profile {profile_id}"
    if proxy is None:
        return f"{who} does not exist", None
    if not proxy["is_enabled"]:
        return f"{who} is disabled", None
    if wanted_region and proxy["region"] != wanted_region:
        where = proxy["region"] or "an unknown region"
        return f"{who} is in {where}, not in {wanted_region}", None
    cooling = float(proxy["cooling_seconds"])
    return (f"{who} cools down after a failure", cooling) if cooling > 0 else None


def closed_by_vendors(db: Database, limits: list[Row]) -> list[Closure]:
    """List the profiles that their vendor's plan lets nobody open now."""
    closed = []
    for limit in limits:
        kind, _, provider = limit["name"].partition(":")
        if kind != "vendor":
            continue
        in_use = int(db.fetch_all("count_provider_leases", provider=provider)[0]["leases"])
        if refusal := limit_reached(limit, in_use):
            closed += [
                Closure(f"profile:{row['id']}", refusal.reason, refusal.seconds)
                for row in db.fetch_all("profiles_of_provider", provider=provider)
            ]
    return closed


def closed_by_proxies(db: Database) -> list[Closure]:
    """Tell whether all proxies are out of use; list who waits for theirs, and for which sites."""
    supply = db.fetch_all("proxy_supply", site=None)[0]
    if not supply["proxies"]:
        return []
    closed = [Closure(*found) for found in closed_routes(db)]
    if found := shortage(supply):
        return [*closed, Closure(PROXIES, *found)]
    if not supply["cooling"]:
        return closed
    return closed + [
        Closure(
            f"address:{row['account_id']}",
            f"the proxy of account {row['account_id']}, {row['name']}, cools down",
            float(row["wait_seconds"]),
        )
        for row in db.fetch_all("waiting_accounts")
    ]
