"""Decide whether a profile or account may be used now. Only this module decides it.

Each rule works on rows. One profile is judged under its lock, in the transaction that claims the
job; all profiles are judged twice a second without locks, so that searches leave their jobs out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from worker.database.client import Database, Row, Transaction
from worker.guards import breakers, limits, pace
from worker.guards.keys import ClosedKey, route_key
from worker.profiles import doors, leases, standing
from worker.profiles.manifest import Manifest
from worker.profiles.standing import NotReady as NotReady
from worker.profiles.states import State
from worker.proxies import choice
from worker.proxies.blocks import cools
from worker.proxies.proxy import DIRECT

# A busy profile is free as soon as its job ends.
BUSY_SECONDS = 1.0
CONFLICT = "profile_lock_conflict"
OVERDUE = "checkout_overdue"
PAUSED = "account_paused"


def judge(tx: Transaction, profile: Row, manifest: Manifest) -> NotReady | None:
    """Judge a locked profile for a job; None when it is ready."""
    for rule in (_account, _state, _host, _leases, _proxy, _breaker, _vendor):
        if (refusal := rule(tx, profile, manifest)) is not None:
            return refusal
    return None


def judge_for_person(tx: Transaction, profile: Row, manifest: Manifest) -> NotReady | None:
    """Judge a locked profile for a person, who may look at what is set aside or paused."""
    if State(profile["state"]) is State.DISABLED:
        return standing.set_aside(profile)
    return _leases(tx, profile, manifest) or _vendor(tx, profile, manifest)


def judge_way_out(tx: Transaction, profile: Row, manifest: Manifest) -> NotReady | None:
    """Judge by what way a locked profile would go out, whoever opens it."""
    return _proxy(tx, profile, manifest)


def account_paused(tx: Transaction, account_id: str | None) -> NotReady | None:
    """Judge an account, whatever its profiles are."""
    rows = tx.fetch_all("get_account", id=account_id)
    return _paused(account_id, rows[0]) if rows else None


def no_profile_ready(account_id: str, refusals: list[NotReady]) -> NotReady:
    """Say that an account has to wait for its profiles, all of which were refused."""
    first = refusals[0]
    known = [refusal.seconds for refusal in refusals if refusal.seconds is not None]
    reason = f"no profile of account {account_id} is ready: {first.reason}"
    if first.event == PAUSED:
        # That is said of the account itself.
        reason = first.reason
    seconds = min(known, default=None)
    return NotReady(first.event, reason, f"account:{account_id}", seconds, first.owner)


def closed_keys(
    db: Database,
    limit_rows: list[Row],
    by_limits: list[ClosedKey],
    by_breakers: list[ClosedKey],
) -> list[ClosedKey]:
    """List the profiles and accounts that cannot be used now, whatever the job.

    `by_limits` and `by_breakers` are the keys that those close: an account's limit holds for its
    profiles, too, and an account whose profiles' breakers are all open has none to use.
    """
    refused: dict[str, NotReady] = {}
    of_account: dict[str, list[NotReady]] = defaultdict(list)
    for profile, refusal in (
        *_refused_profiles(db, limit_rows),
        *_refused_by_breakers(db, by_breakers),
    ):
        if profile["id"] in refused:
            continue
        refused[profile["id"]] = refusal
        if profile["account_id"] is not None:
            of_account[profile["account_id"]].append(refusal)
    closed = [refusal.closed_key for refusal in refused.values()]
    if of_account:
        rows = db.fetch_all("count_profiles_of_accounts", accounts=tuple(of_account))
        closed += [
            no_profile_ready(row["account_id"], of_account[row["account_id"]]).closed_key
            for row in rows
            if row["profiles"] == len(of_account[row["account_id"]])
        ]
    # An account may be paused and have no profiles.
    for row in db.fetch_all("paused_accounts"):
        paused = _paused(row["id"], row)
        closed += [paused.closed_key] if paused else []
    return [*_of_full_accounts(db, by_limits), *closed]


def _of_full_accounts(db: Database, by_limits: list[ClosedKey]) -> list[ClosedKey]:
    """Close the profiles of accounts whose limit is reached: jobs may name the profile alone."""
    kind = "account:"
    full = {
        found.key.removeprefix(kind): found for found in by_limits if found.key.startswith(kind)
    }
    if not full:
        return []
    return [
        replace(full[row["account_id"]], key=f"profile:{row['id']}")
        for row in db.fetch_all("profiles_of_accounts", accounts=tuple(full))
    ]


def _refused_profiles(db: Database, limit_rows: list[Row]) -> Iterator[tuple[Row, NotReady]]:
    """Judge every profile that may not be ready, by the same rules as one under its lock."""
    held: dict[str, list[Row]] = defaultdict(list)
    for lease in db.fetch_all("all_leases"):
        held[lease["profile_id"]].append(lease)
    for profile in db.fetch_all("profiles_out_of_use"):
        paused = _paused(profile["account_id"], profile, closes=f"profile:{profile['id']}")
        refusal = paused or standing.set_aside(profile) or standing.elsewhere(profile)
        if refusal := refusal or _occupied(profile, held[profile["id"]]):
            yield profile, refusal
    yield from standing.all_elsewhere(db)
    for profile in db.fetch_all("profiles_without_proxy"):
        if profile["proxy"] is None:
            yield profile, _undecided(profile)
            continue
        proxy = profile if profile["proxy_name"] is not None else None
        if refusal := _ill_connected(profile, proxy, profile["wanted_region"]):
            yield profile, refusal
    for limit in limit_rows:
        kind, _, provider = limit["name"].partition(":")
        if kind != "vendor" or not (full := _vendor_full(db, limit, provider)):
            continue
        for profile in db.fetch_all("profiles_of_provider", provider=provider):
            yield profile, replace(full, closes=f"profile:{profile['id']}")


def _refused_by_breakers(
    db: Database, by_breakers: list[ClosedKey]
) -> Iterator[tuple[Row, NotReady]]:
    kind = "profile:"
    open_of = {
        found.key.removeprefix(kind): found for found in by_breakers if found.key.startswith(kind)
    }
    if not open_of:
        return
    for profile in db.fetch_all("profiles_by_id", ids=tuple(open_of)):
        found = open_of[profile["id"]]
        yield profile, NotReady("breaker_open", found.reason, found.key, found.seconds)


def _account(tx: Transaction, profile: Row, manifest: Manifest) -> NotReady | None:
    refusal = account_paused(tx, profile["account_id"])
    # The job may name the profile alone: by that it is left out of searches.
    return refusal and replace(refusal, closes=f"profile:{profile['id']}")


def _paused(account_id: str | None, account: Row, closes: str | None = None) -> NotReady | None:
    if account["paused_reason"] is None:
        return None
    reason = f"account {account_id} is paused: {account['paused_reason']}"
    return NotReady(PAUSED, reason, closes or f"account:{account_id}")


def _state(tx: Transaction, profile: Row, manifest: Manifest) -> NotReady | None:
    return standing.set_aside(profile)


def _host(tx: Transaction, profile: Row, manifest: Manifest) -> NotReady | None:
    return standing.elsewhere(profile)


def _leases(tx: Transaction, profile: Row, manifest: Manifest) -> NotReady | None:
    return _occupied(profile, leases.of_profile(tx, profile["id"]), manifest.exclusive)


def _occupied(profile: Row, held: list[Row], exclusive: bool = False) -> NotReady | None:
    is_taken = any(lease["is_exclusive"] for lease in held) or (exclusive and held)
    if not is_taken and len(held) < profile["max_active_runs"]:
        return None
    owner = held[0]["holder"] + (
        f", job {held[0]['job_id']}" if held[0]["job_id"] is not None else ""
    )
    name, seconds = profile["id"], BUSY_SECONDS
    if held[0]["is_person"]:
        seconds = float(held[0]["left_seconds"])
        if seconds <= 0:
            # Only they know whether their browser may be closed.
            reason = f"profile {name} is checked out and overdue"
            return NotReady(OVERDUE, reason, f"profile:{name}", None, owner)
    return NotReady(CONFLICT, f"profile {name} is in use", f"profile:{name}", seconds, owner)


def _proxy(tx: Transaction, profile: Row, manifest: Manifest) -> NotReady | None:
    if profile["proxy"] == DIRECT:
        return None
    if profile["proxy"] is None:
        return _undecided(profile) if tx.fetch_all("any_proxy") else None
    rows = tx.fetch_all("proxy_of_profile", name=profile["proxy"], site=manifest.site)
    refusal = _ill_connected(profile, rows[0] if rows else None, profile["region"])
    return refusal or _blocked(profile, manifest.site, float(rows[0]["site_seconds"]))


def _undecided(profile: Row) -> NotReady:
    name = profile["id"]
    return NotReady("proxy_not_chosen", doors.not_chosen(name), f"profile:{name}")


def _ill_connected(profile: Row, proxy: Row | None, wanted_region: str | None) -> NotReady | None:
    name = profile["id"]
    trouble = choice.trouble(f"proxy {profile['proxy']} of profile {name}", proxy, wanted_region)
    if trouble is None:
        return None
    event = "proxy_wrong_region" if trouble.is_elsewhere else "proxy_not_ready"
    return NotReady(event, trouble.reason, f"profile:{name}", trouble.seconds)


def _blocked(profile: Row, site: str, seconds: float) -> NotReady | None:
    """Judge a good proxy by where it was blocked: only the jobs of that site wait."""
    if seconds <= 0:
        return None
    name = profile["id"]
    reason = cools("profile", name, profile["proxy"], site)
    return NotReady("proxy_not_ready", reason, route_key("profile", name, site), seconds)


def _breaker(tx: Transaction, profile: Row, manifest: Manifest) -> NotReady | None:
    if manifest.profile is not None:
        # The gate has asked it before.
        return None
    key = f"profile:{profile['id']}"
    refusal, profile["canary"] = breakers.admit(tx, (key,), manifest.task)
    return NotReady("breaker_open", refusal.reason, key, refusal.seconds) if refusal else None


def _vendor(tx: Transaction, profile: Row, manifest: Manifest) -> NotReady | None:
    rows = tx.fetch_all("lock_limits", names=(f"vendor:{profile['provider']}",))
    if not rows:
        return None
    full = _vendor_full(tx, rows[0], profile["provider"])
    if full is None and (resting := pace.judge(tx, rows[0])) is not None:
        full = NotReady("vendor_cap", resting.reason, resting.key, resting.seconds)
    if full is not None:
        return replace(full, closes=f"profile:{profile['id']}")
    limits.count_starts(tx, rows)
    return None


def _vendor_full(reader: Database | Transaction, limit: Row, provider: str) -> NotReady | None:
    """Tell whether a vendor's plan lets nobody open another profile now."""
    in_use = int(reader.fetch_all("count_provider_leases", provider=provider)[0]["leases"])
    if (refusal := limits.reached(limit, in_use)) is None:
        return None
    return NotReady("vendor_cap", refusal.reason, refusal.key, refusal.seconds)
