"""Choose the proxy to use now, or say why there is none: cooling down, disabled, wrong region.

Proxies are chosen in turn and left alone a while where they are blocked or fail. An account keeps
its proxy as long as that is enabled.
"""

from __future__ import annotations

from dataclasses import dataclass

from worker.database.client import Database, Row, Transaction
from worker.guards.keys import PROXIES, ClosedKey, address_key
from worker.proxies import blocks
from worker.proxies.proxy import Proxy
from worker.retry_after import shared_wait_seconds

COOLDOWN_SECONDS = 600.0
UNREACHABLE_SECONDS = 60.0
LONGEST_SECONDS = 1800.0
# In the reason of a proxy that cools down: no time heals that, somebody has to set it right.
REFUSES_LOGIN = "it refuses the login"
SET_LOGIN = "set it right: launcher.py proxies set NAME"


@dataclass(frozen=True, slots=True)
class Choice:
    """What `look` found: a proxy, or why there is none and for how long."""

    proxy: Proxy | None
    reason: str = ""
    seconds: float | None = None
    # Failures of its own in a row: the first success is worth being written down then.
    failures: int = 0


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a named proxy cannot be used now, and for how long (None: until a person acts)."""

    reason: str
    seconds: float | None = None
    is_elsewhere: bool = False


def look(
    db: Database,
    *,
    region: str | None = None,
    account_id: str | None = None,
    site: str | None = None,
) -> Choice:
    """Take the proxy whose turn it is, or tell why none may be used now.

    The one blocked longest ago (or never) comes first, then the one used longest ago. An account
    has the same one every time; while that cools down, none: the account waits. Where a proxy was
    blocked counts for a `site` that is named; '' is the one of all jobs without a site.
    """
    # Most pools have no proxies: one read, and no transaction, tells that.
    supply = _supply(db, site)
    if not supply["proxies"]:
        return Choice(None)
    found = db.transaction(lambda tx: _choose(tx, region, account_id, site))
    if found.proxy is None and not found.reason:
        reason, seconds = shortage(_supply(db, site), site) or (
            f"no proxy of region {region} can be used now" if region else "no proxy is free",
            1.0,
        )
        return Choice(None, reason, seconds)
    return found


def hosts(db: Database) -> frozenset[str]:
    """Name the hosts of all proxies: browsers have to look these up, and nothing else."""
    return frozenset(row["host"] for row in db.fetch_all("proxy_hosts"))


def still_usable(db: Database, proxy_id: int) -> Choice:
    """Read a proxy again; without one when it is gone, disabled or cools down."""
    row = db.fetch_one("usable_proxy", id=proxy_id)
    return _choice(row) if row is not None else Choice(None)


def shortage(supply: Row, site: str | None = None) -> tuple[str, float | None] | None:
    """Say why no proxy can be used now, and for how long.

    None: one can be used, or there are no proxies at all.
    """
    total, enabled = int(supply["proxies"]), int(supply["enabled"])
    if not total or enabled > int(supply["cooling"]):
        return None
    if not enabled:
        what = "the only proxy is" if total == 1 else f"all {total} proxies are"
        return f"{what} disabled; enable or remove them: launcher.py proxies list", None
    seconds, refusing = float(supply["wait_seconds"]), int(supply["refusing"])
    if refusing == enabled:
        what = "the only proxy refuses" if enabled == 1 else f"all {enabled} proxies refuse"
        return f"{what} the login; {SET_LOGIN}", seconds
    what = "the only proxy cools" if enabled == 1 else f"all {enabled} proxies cool"
    where = "" if site is None else f"{blocks.where(site)} "
    more = f", {refusing} of them because the login is refused" if refusing else ""
    return f"{what} down {where}after blocks or failures{more}", seconds


def trouble(who: str, proxy: Row | None, wanted_region: str | None) -> Trouble | None:
    """Say why a proxy that somebody must have cannot be used now; None when it can."""
    if proxy is None:
        return Trouble(f"{who} does not exist")
    if not proxy["is_enabled"]:
        return Trouble(f"{who} is disabled")
    if wanted_region and proxy["region"] != wanted_region:
        region = proxy["region"] or "an unknown region"
        return Trouble(f"{who} is in {region}, not in {wanted_region}", is_elsewhere=True)
    cooling = float(proxy["cooling_seconds"])
    if cooling > 0 and REFUSES_LOGIN in (proxy["cooling_reason"] or ""):
        return Trouble(f"{who} refuses the login; {SET_LOGIN}", cooling)
    return Trouble(f"{who} cools down after a failure", cooling) if cooling > 0 else None


def closed_keys(db: Database) -> list[ClosedKey]:
    """Tell whether all proxies are out of use; list who waits for theirs, and for which sites."""
    supply = _supply(db)
    if not supply["proxies"]:
        return []
    closed = blocks.closed_routes(db)
    if found := shortage(supply):
        return [*closed, ClosedKey(PROXIES, *found)]
    if not supply["cooling"]:
        return closed
    return closed + [
        ClosedKey(
            address_key(row["account_id"]),
            f"the proxy of account {row['account_id']}, {row['name']}, cools down",
            float(row["wait_seconds"]),
        )
        for row in db.fetch_all("waiting_accounts")
    ]


def note_block(
    db: Database,
    proxy_id: int,
    cooldown_seconds: float = COOLDOWN_SECONDS,
    retry_after: float | None = None,
    reason: str = "a block",
    site: str = "",
) -> None:
    """Leave a proxy alone for a while for a site that refused what came through it."""
    seconds = max(cooldown_seconds, shared_wait_seconds(retry_after))
    blocks.note(db, proxy_id, site, seconds, reason)


def note_unreachable(
    db: Database, proxy_id: int, reason: str, seconds: float = UNREACHABLE_SECONDS
) -> None:
    """Leave a proxy alone that cannot be used: shortly, then longer each time in a row."""
    db.execute(
        "note_proxy_failure",
        id=proxy_id,
        seconds=seconds,
        longest=LONGEST_SECONDS,
        reason=reason[:255],
    )


def note_success(db: Database, proxy_id: int) -> None:
    """Forget a proxy's failures."""
    db.execute("note_proxy_success", id=proxy_id)


def _supply(db: Database, site: str | None = None) -> Row:
    return db.fetch_all("proxy_supply", site=site, refuses=REFUSES_LOGIN)[0]


def _choose(
    tx: Transaction, region: str | None, account_id: str | None, site: str | None
) -> Choice:
    former_id = None
    if account_id is not None:
        kept = tx.fetch_all("proxy_of_account", account_id=account_id, site=site)
        if kept and kept[0]["is_enabled"]:
            return _kept(tx, kept[0], site)
        former_id = kept[0]["id"] if kept else None
    rows = tx.fetch_all("next_proxy", region=region, site=site)
    if not rows:
        return Choice(None)
    if account_id is not None:
        tx.execute(
            "assign_proxy", account_id=account_id, proxy_id=rows[0]["id"], former_id=former_id
        )
        # Another worker may have been quicker: then the account has that one's choice.
        kept = tx.fetch_all("proxy_of_account", account_id=account_id, site=site)
        return _kept(tx, kept[0], site)
    tx.execute("mark_proxy_used", id=rows[0]["id"])
    return _choice(rows[0])


def _kept(tx: Transaction, row: Row, site: str | None) -> Choice:
    reason = f"the account's proxy {row['name']} cools down"
    if row["cooling_seconds"] > 0:
        return Choice(None, reason, float(row["cooling_seconds"]))
    if site is not None and row["site_seconds"] > 0:
        return Choice(None, f"{reason} {blocks.where(site)}", float(row["site_seconds"]))
    tx.execute("mark_proxy_used", id=row["id"])
    return _choice(row)


def _choice(row: Row) -> Choice:
    return Choice(Proxy.from_row(row), failures=row["failures"])
