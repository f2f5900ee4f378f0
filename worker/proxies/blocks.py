"""Remember where proxies were blocked: each is unused for that site for a while, not for others.

A route is an owner's proxy plus a site. Jobs without a site share the site ''.
"""

from __future__ import annotations

from worker.database.client import Database, Row, Transaction
from worker.guards.keys import ClosedKey, exit_key, route_key

# The proxy blocked longest ago comes first; a block is forgotten after a day.
MEMORY_SECONDS = 86400.0
FORGET_AT_ONCE = 100


def note(db: Database, proxy_id: int, site: str, seconds: float, reason: str) -> None:
    """Do not use a proxy for one site for `seconds`, unless it already rests longer."""

    def write(tx: Transaction) -> None:
        # A proxy that was removed meanwhile has nothing to be remembered.
        if tx.execute("count_proxy_block", id=proxy_id):
            tx.execute(
                "add_proxy_block",
                proxy_id=proxy_id,
                site=site,
                seconds=seconds,
                reason=reason[:255],
            )

    db.transaction(write)
    db.execute("forget_old_proxy_blocks", seconds=MEMORY_SECONDS, limit=FORGET_AT_ONCE)


def cooling(db: Database, proxy_id: int | None = None) -> list[Row]:
    """List the sites that a proxy, or each of them, is left alone for now."""
    return db.fetch_all("cooling_sites", proxy_id=proxy_id)


def closed_routes(db: Database) -> list[ClosedKey]:
    """List the routes that nothing can take now."""
    found = []
    for row in db.fetch_all("cooling_routes"):
        site, kind, owner = row["site"], row["kind"], row["owner"]
        if owner is None:
            key, reason = exit_key(site), f"all proxies cool down {where(site)} after blocks"
        else:
            key, reason = route_key(kind, owner, site), cools(kind, owner, row["proxy"], site)
        found.append(ClosedKey(key, reason, float(row["cooling_seconds"])))
    return found


def cools(kind: str, owner: str, proxy: str, site: str) -> str:
    """Say that the proxy of a profile or an account is left alone for a site."""
    return f"proxy {proxy} of {kind} {owner} cools down {where(site)} after a block"


def where(site: str) -> str:
    """Name a site in a sentence."""
    return f"at {site}" if site else "for jobs without a site"
