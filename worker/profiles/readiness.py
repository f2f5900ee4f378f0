"""The gate before a profile's browser is opened: is this account environment safe to use now?

Judged inside the transaction that claims the job, while the profile's row is locked.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from worker.claiming.closed_keys import Closure, limit_reached, proxy_trouble
from worker.database.client import Database, Row, Transaction
from worker.guards import breakers
from worker.profiles.manifest import Manifest
from worker.profiles.states import LEASABLE, State
from worker.proxies.blocks import cools, route_key

STALE_SECONDS = 2.0
BUSY_SECONDS = 1.0
CONFLICT = "profile_lock_conflict"


@dataclass(frozen=True, slots=True)
class NotReady:
    """Why a profile cannot be used now, and when to look again (None: when somebody says)."""

    event: str
    reason: str
    closes: str
    seconds: float | None = None
    owner: str | None = None

    @property
    def closure(self) -> Closure:
        said = f"{self.reason} ({self.owner})" if self.owner else self.reason
        return Closure(self.closes, said, self.seconds)


class Unresolvable(Exception):
    """A job asks for an environment that does not exist or does not allow what it wants."""


def resolve(tx: Transaction, manifest: Manifest) -> Row | NotReady | None:
    """Find, lock and judge the profile for a job; raises Unresolvable when no wait can help.

    None: the account is known and has no profiles, so its jobs need none.
    """
    if manifest.profile is not None:
        return _judge(tx, _named(tx, manifest), manifest)
    account = manifest.account
    assert account is not None
    ids = [row["id"] for row in tx.fetch_all("profiles_of_account", account_id=account)]
    if not ids:
        if not tx.fetch_all("get_account", id=account):
            raise Unresolvable(
                f"there is no account {account}; add it: launcher.py accounts add {account}"
            )
        return _paused(tx, account)
    refusals, unfit = [], []
    for profile_id in ids:
        try:
            answer = _judge(tx, tx.fetch_all("lock_profile", id=profile_id)[0], manifest)
        except Unresolvable as problem:
            # Another profile of the account may allow it.
            unfit.append(problem)
            continue
        if not isinstance(answer, NotReady):
            return answer
        refusals.append(answer)
    if not refusals:
        raise unfit[0]
    known = [refusal.seconds for refusal in refusals if refusal.seconds is not None]
    first = refusals[0]
    reason = f"no profile of account {account} is ready: {first.reason}"
    closes = f"account:{account}"
    if all(refusal.closes.startswith("route:") for refusal in refusals):
        closes = route_key("account", account, manifest.site)
    return NotReady(first.event, reason, closes, min(known, default=None), first.owner)


def look(db: Database, manifest: Manifest) -> NotReady | None:
    """Judge as `resolve` does and change nothing: None when a job could have its profile now."""

    def judge(tx: Transaction) -> Row | NotReady | None:
        tx.discard()
        return resolve(tx, manifest)

    answer = db.transaction(judge)
    return answer if isinstance(answer, NotReady) else None


def resolve_for_person(tx: Transaction, profile_id: str) -> Row | NotReady:
    """Lock and judge a profile for a person, who may also look at what is set aside or paused."""
    alone = Manifest(profile=profile_id, exclusive=True)
    profile = _named(tx, alone)
    rules = [_leases, _vendor]
    if State(profile["state"]) is State.DISABLED:
        rules.insert(0, _state)
    for rule in rules:
        if (refusal := rule(tx, profile, alone)) is not None:
            return refusal
    return profile


def _named(tx: Transaction, manifest: Manifest) -> Row:
    found = tx.fetch_all("lock_profile", id=manifest.profile)
    if not found:
        raise Unresolvable(
            f"there is no profile {manifest.profile}; add it: launcher.py profiles add"
        )
    profile = found[0]
    if manifest.account is not None and profile["account_id"] != manifest.account:
        raise Unresolvable(
            f"profile {profile['id']} belongs to account {profile['account_id']}, "
            f"not to {manifest.account}"
        )
    return profile


def _judge(tx: Transaction, profile: Row, manifest: Manifest) -> Row | NotReady:
    allowed = profile["allowed_actions"]
    if allowed is not None and (refused := set(manifest.actions) - set(json.loads(allowed))):
        raise Unresolvable(f"profile {profile['id']} does not allow {sorted(refused)[0]!r}")
    if manifest.proxy is not None and manifest.proxy != profile["proxy"]:
        raise Unresolvable(
            f"the job wants proxy {manifest.proxy}, profile {profile['id']} has {profile['proxy']}"
        )
    for rule in (_account, _state, _leases, _proxy, _breaker, _vendor):
        if (refusal := rule(tx, profile, manifest)) is not None:
            return refusal
    return profile


def _account(tx: Transaction, profile: Row, manifest: Manifest) -> NotReady | None:
    refusal = _paused(tx, profile["account_id"])
    # The job may name the profile alone: by that it is left out of searches.
    return refusal and replace(refusal, closes=f"profile:{profile['id']}")


def _paused(tx: Transaction, account_id: str | None) -> NotReady | None:
    rows = tx.fetch_all("get_account", id=account_id)
    if not rows or rows[0]["paused_reason"] is None:
        return None
    reason = f"account {account_id} is paused: {rows[0]['paused_reason']}"
    return NotReady("account_paused", reason, f"account:{account_id}")


def _state(tx: Transaction, profile: Row, manifest: Manifest) -> NotReady | None:
    state = State(profile["state"])
    if state in LEASABLE:
        return None
    seconds = STALE_SECONDS if state is State.STALE else None
    name = profile["id"]
    reason = f"profile {name} is {state.replace('_', ' ')}: {profile['state_reason'] or ''}".strip()
    return NotReady(f"profile_{state}", reason, f"profile:{name}", seconds)


def _leases(tx: Transaction, profile: Row, manifest: Manifest) -> NotReady | None:
    held = tx.fetch_all("leases_of_profile", profile_id=profile["id"])
    is_taken = any(lease["is_exclusive"] for lease in held) or (manifest.exclusive and held)
    if not is_taken and len(held) < profile["max_active_runs"]:
        return None
    owner = held[0]["holder"] + (f", job {held[0]['job_id']}" if held[0]["job_id"] else "")
    seconds = float(held[0]["left_seconds"]) if held[0]["is_person"] else BUSY_SECONDS
    name = profile["id"]
    return NotReady(CONFLICT, f"profile {name} is in use", f"profile:{name}", seconds, owner)


def _proxy(tx: Transaction, profile: Row, manifest: Manifest) -> NotReady | None:
    name, closes = profile["proxy"], f"profile:{profile['id']}"
    if name is None:
        return None
    rows = tx.fetch_all("proxy_of_profile", name=name, site=manifest.site)
    proxy = rows[0] if rows else None
    trouble = proxy_trouble(profile["id"], name, profile["region"], proxy)
    if trouble is None:
        return _blocked(profile, manifest.site, float(rows[0]["site_seconds"]))
    reason, seconds = trouble
    is_elsewhere = proxy is not None and proxy["is_enabled"] and seconds is None
    event = "proxy_wrong_region" if is_elsewhere else "proxy_not_ready"
    return NotReady(event, reason, closes, seconds)


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
    refusal, profile["canary"] = breakers.admit(tx, (key,))
    return NotReady("breaker_open", refusal.reason, key, refusal.seconds) if refusal else None


def _vendor(tx: Transaction, profile: Row, manifest: Manifest) -> NotReady | None:
    rows = tx.fetch_all("lock_limits", names=(f"vendor:{profile['provider']}",))
    if not rows:
        return None
    in_use = int(tx.fetch_all("count_provider_leases", provider=profile["provider"])[0]["leases"])
    refusal = limit_reached(rows[0], in_use)
    if refusal is None:
        tx.execute("count_start", names=(rows[0]["name"],))
        return None
    return NotReady("vendor_cap", refusal.reason, f"profile:{profile['id']}", refusal.seconds)
