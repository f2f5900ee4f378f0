"""Find and lock the profile for a job, by its manifest, in the transaction of the claim.

Whether that profile is ready is decided in `readiness`.
"""

from __future__ import annotations

import json
from dataclasses import replace

from worker.database.client import Database, Row, Transaction
from worker.guards.keys import route_key
from worker.installation import command_line
from worker.profiles import hosts, readiness
from worker.profiles.manifest import Manifest, needs_profile
from worker.profiles.readiness import NotReady


class Unresolvable(Exception):
    """A job asks for an environment that does not exist or does not allow what it wants."""


def keys_by_profile(tx: Transaction, manifest: Manifest) -> tuple[str, ...]:
    """Name the account that a job belongs to only by its profile: its limits count, too."""
    if manifest.profile is None or manifest.account is not None or manifest.temporary:
        return ()
    rows = tx.fetch_all("account_of_profile", id=manifest.profile)
    return tuple(f"account:{row['account_id']}" for row in rows if row["account_id"] is not None)


def resolve(tx: Transaction, manifest: Manifest) -> Row | NotReady | None:
    """Find, lock and judge the profile for a job; raises Unresolvable when no wait can help.

    None: the job needs none, because it is temporary or its account has no profiles.
    """
    if manifest.temporary:
        check_owner(tx, manifest)
        return None
    if manifest.profile is not None:
        profile = _named(tx, manifest)
        return _judge(tx, profile, manifest) or profile
    account = manifest.account
    assert account is not None
    ids = [row["id"] for row in tx.fetch_all("profiles_of_account", account_id=account)]
    if not ids:
        _check_alone(tx, account, manifest)
        return readiness.account_paused(tx, account)
    return _first_ready(tx, ids, manifest, account)


def check(reader: Database | Transaction, manifest: Manifest) -> bool:
    """Raise Unresolvable when no wait can help, whatever the job's profile is doing; lock nothing.

    Returns whether this host could do the job: its profile may live on another one.
    """
    if manifest.temporary:
        check_owner(reader, manifest)
        return True
    if manifest.profile is not None:
        found = reader.fetch_all("get_profile", id=manifest.profile)
        profile = _of_its_account(found, manifest)
        _check_fit(profile, manifest)
        return hosts.is_here(profile)
    account = manifest.account
    assert account is not None
    profiles = reader.fetch_all("list_profiles", state=None, account_id=account)
    if not profiles:
        _check_alone(reader, account, manifest)
        return True
    return any(hosts.is_here(profile) for profile in _fit(profiles, manifest))


def check_owner(reader: Database | Transaction, manifest: Manifest) -> None:
    """Raise Unresolvable for a job that cannot be its owner's, whoever has it; locks nothing."""
    if manifest.profile is not None:
        found = reader.fetch_all("get_profile", id=manifest.profile)
        _check_proxy(_of_its_account(found, manifest), manifest)
    elif manifest.account is not None:
        _check_account(reader, manifest.account)


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
    return readiness.judge_for_person(tx, profile, alone) or profile


def _named(tx: Transaction, manifest: Manifest) -> Row:
    return _of_its_account(tx.fetch_all("lock_profile", id=manifest.profile), manifest)


def _of_its_account(found: list[Row], manifest: Manifest) -> Row:
    if not found:
        raise Unresolvable(
            f"there is no profile {manifest.profile}; add it: launcher.py profiles add"
        )
    profile = found[0]
    if manifest.account is not None and profile["account_id"] != manifest.account:
        raise Unresolvable(
            f"profile {profile['id']} belongs to {_owner(profile)}, not to {manifest.account}"
        )
    return profile


def _owner(profile: Row) -> str:
    account = profile["account_id"]
    return "no account" if account is None else f"account {account}"


def _check_account(reader: Database | Transaction, account: str) -> None:
    if not reader.fetch_all("get_account", id=account):
        raise Unresolvable(
            f"there is no account {account}; add it: {command_line('accounts', 'add', account)}"
        )


def _check_alone(reader: Database | Transaction, account: str, manifest: Manifest) -> None:
    """Check a job of an account without profiles."""
    _check_account(reader, account)
    if manifest.proxy is not None:
        problem = needs_profile(manifest.proxy)
        raise Unresolvable(f"manifest: {problem}; account {account} has no profiles")


def _first_ready(
    tx: Transaction, ids: list[str], manifest: Manifest, account: str
) -> Row | NotReady:
    refusals, unfit = [], []
    for profile_id in ids:
        profile = tx.fetch_all("lock_profile", id=profile_id)[0]
        try:
            refusal = _judge(tx, profile, manifest)
        except Unresolvable as problem:
            # Another profile of the account may allow it.
            unfit.append(problem)
            continue
        if refusal is None:
            return profile
        refusals.append(refusal)
    if not refusals:
        raise unfit[0]
    none_ready = readiness.no_profile_ready(account, refusals)
    if all(refusal.closes.startswith("route:") for refusal in refusals):
        return replace(none_ready, closes=route_key("account", account, manifest.site))
    return none_ready


def _judge(tx: Transaction, profile: Row, manifest: Manifest) -> NotReady | None:
    _check_fit(profile, manifest)
    return readiness.judge(tx, profile, manifest)


def _fit(profiles: list[Row], manifest: Manifest) -> list[Row]:
    """List the profiles of an account that may do a job; raises Unresolvable if none may."""
    fit, unfit = [], []
    for profile in profiles:
        try:
            _check_fit(profile, manifest)
            fit.append(profile)
        except Unresolvable as problem:
            unfit.append(problem)
    if not fit:
        raise unfit[0]
    return fit


def _check_fit(profile: Row, manifest: Manifest) -> None:
    allowed = profile["allowed_actions"]
    if allowed is not None and (refused := set(manifest.actions) - set(json.loads(allowed))):
        raise Unresolvable(f"profile {profile['id']} does not allow {sorted(refused)[0]!r}")
    _check_proxy(profile, manifest)


def _check_proxy(profile: Row, manifest: Manifest) -> None:
    if manifest.proxy is not None and manifest.proxy != profile["proxy"]:
        raise Unresolvable(
            f"the job wants proxy {manifest.proxy}, profile {profile['id']} has {profile['proxy']}"
        )
