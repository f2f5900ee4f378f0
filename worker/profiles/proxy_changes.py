"""What a change of a proxy means to the profiles that are seen through it.

A proxy that comes back as another puts them up for review; one that they use is removed only by
somebody who names them. Each is an event of theirs.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from worker.database.client import Database, Transaction
from worker.errors import UsageError
from worker.installation import command_line
from worker.profiles import events
from worker.profiles.states import State
from worker.proxies import store

# In these states a profile would go on being used.
IN_USE = (State.AVAILABLE, State.LEASED, State.STALE)
MOST_NAMES = 20
THEN_DIRECT = "--then-direct"


@dataclass(slots=True)
class Reviews:
    """Puts profiles up for review when their proxy is another than before; call it as told."""

    by: str
    # By proxy: what differs, and its profiles.
    found: dict[str, tuple[str, list[str]]] = field(default_factory=dict)

    def __call__(self, tx: Transaction, proxy: str, difference: str) -> None:
        """Write it, in the transaction of the change."""
        reason = f"proxy {proxy} is another than before: {difference}"
        profiles = tx.fetch_all("lock_profiles_of_proxy", proxy=proxy)
        for profile in profiles:
            state = State(profile["state"])
            new = State.REVIEW_REQUIRED if state in IN_USE else state
            events.move(tx, profile, new, event="proxy_changed", author=self.by, reason=reason)
        # A transaction may be tried again: what counts is its last run.
        self.found[proxy] = (difference, [profile["id"] for profile in profiles])


def remove(
    db: Database, proxy: str, used_by: frozenset[str], *, by: str, then_direct: bool = False
) -> bool:
    """Remove a proxy, if everybody who uses it is named; raises UsageError that lists the others.

    Its profiles are not ready then, and its accounts get another proxy. The last one is removed
    only if pages may go out directly from then on; returns whether it was.
    """
    is_last = False

    def check(tx: Transaction) -> None:
        nonlocal is_last
        is_last = [row["name"] for row in tx.fetch_all("lock_proxies")] == [proxy]
        profiles = tx.fetch_all("lock_profiles_of_proxy", proxy=proxy)
        accounts = [row["account_id"] for row in tx.fetch_all("accounts_of_proxy", proxy=proxy)]
        names = [profile["id"] for profile in profiles]
        if not used_by.issuperset(names + accounts):
            raise UsageError(_refusal(proxy, names, accounts) + f" {THEN_DIRECT}" * is_last)
        if is_last and not then_direct:
            command = f"{_removal(proxy, names + accounts)} {THEN_DIRECT}"
            raise UsageError(
                f"{proxy} is the last proxy: without it, pages go out directly; "
                f"nothing was removed. If they may: {command}"
            )
        for profile in profiles:
            reason = f"proxy {proxy} was removed"
            state = State(profile["state"])
            events.move(tx, profile, state, event="proxy_removed", author=by, reason=reason)

    store.remove(db, proxy, check)
    return is_last


def _refusal(proxy: str, profiles: list[str], accounts: list[str]) -> str:
    users = [
        f"{kind}{'s' * (len(names) > 1)} {_listed(names)}"
        for kind, names in (("profile", profiles), ("account", accounts))
        if names
    ]
    return (
        f"proxy {proxy} is used by {' and '.join(users)}; nothing was removed. Give them another "
        f"(launcher.py profiles set ID --proxy NAME), or name them all: "
        f"{_removal(proxy, profiles + accounts)}"
    )


def _removal(proxy: str, users: list[str]) -> str:
    """Write the command that removes a proxy although these use it."""
    named = list(dict.fromkeys(users))
    flags = [word for name in named[:MOST_NAMES] for word in ("--used-by", name)]
    more = " …" if len(named) > MOST_NAMES else ""
    return command_line("proxies", "remove", proxy, *flags) + more


def _listed(names: list[str]) -> str:
    rest = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {rest} more" if rest > 0 else "")
