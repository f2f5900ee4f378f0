"""The proxies of a pool: added by hand, chosen in turn, left alone a while where they are blocked.

An account keeps its proxy as long as that is enabled. Credentials leave this module only inside a
`Proxy`, whose texts do not show them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from worker.database.client import Database, Row, Transaction
from worker.errors import BadData, DuplicateKey, UsageError
from worker.proxies import blocks
from worker.proxies.proxy import Proxy

COOLDOWN_SECONDS = 600.0
UNREACHABLE_SECONDS = 60.0
LONGEST_SECONDS = 1800.0


@dataclass(frozen=True, slots=True)
class Choice:
    """What `choose` found: a proxy, or why there is none and for how long."""

    proxy: Proxy | None
    reason: str = ""
    seconds: float | None = None
    # Failures of its own in a row: the first success is worth being written down then.
    failures: int = 0


def add(db: Database, proxy: Proxy) -> None:
    """Add one named proxy; raises UsageError when there is one of that name."""
    try:
        db.execute("add_proxy", **_columns(proxy))
    except DuplicateKey:
        raise UsageError(
            f"there is a proxy named {proxy.name!r} already; "
            f"take another name, or first: launcher.py proxies remove {proxy.name}"
        ) from None
    except BadData:
        # The server's own words might repeat a value.
        raise UsageError(f"proxy {proxy.name!r}: its host or login is too long") from None


def add_all(db: Database, proxies: Iterable[Proxy]) -> int:
    """Add proxies in one transaction, all or none; raises UsageError for a name that is taken."""
    wanted = list(proxies)

    def work(tx: Transaction) -> int:
        for proxy in wanted:
            tx.execute("add_proxy", **_columns(proxy))
        return len(wanted)

    try:
        return db.transaction(work)
    except DuplicateKey:
        raise UsageError("a name is taken by now; nothing was imported, try again") from None
    except BadData:
        raise UsageError("a host or login is too long; nothing was imported") from None


def all_proxies(db: Database) -> list[Row]:
    """List every proxy with its state, without credentials."""
    return db.fetch_all("read_proxies")


def enable(db: Database, name: str) -> None:
    """Let a proxy be chosen again, at once; raises UsageError when there is none of that name."""
    _require(db, name)
    db.execute("switch_proxy", name=name, is_enabled=True, reason=None)
    db.execute("forget_proxy_blocks", name=name)


def disable(db: Database, name: str, reason: str | None = None) -> None:
    """Let a proxy be chosen no more; its accounts get others."""
    _require(db, name)
    db.execute("switch_proxy", name=name, is_enabled=False, reason=(reason or "by hand")[:255])


def remove(db: Database, name: str) -> None:
    """Forget a proxy and which accounts had it."""
    _require(db, name)
    db.execute("remove_proxy", name=name)


def choose(
    db: Database,
    *,
    region: str | None = None,
    account_id: str | None = None,
    site: str | None = None,
) -> Proxy | None:
    """Take the proxy whose turn it is; None when there is none that may be used now.

    The one blocked longest ago (or never) comes first, then the one used longest ago. An account
    has the same one every time; while that cools down, None: the account waits. Where a proxy was
    blocked counts for a `site` that is named; '' is the one of all jobs without a site.
    """
    return look(db, region=region, account_id=account_id, site=site).proxy


def look(
    db: Database,
    *,
    region: str | None = None,
    account_id: str | None = None,
    site: str | None = None,
) -> Choice:
    """Choose like `choose`, and tell why there is nothing to choose."""
    # Most pools have no proxies: one read, and no transaction, tells that.
    supply = db.fetch_all("proxy_supply", site=site)[0]
    if not supply["proxies"]:
        return Choice(None)
    found = db.transaction(lambda tx: _choose(tx, region, account_id, site))
    if found.proxy is None and not found.reason:
        reason, seconds = shortage(db.fetch_all("proxy_supply", site=site)[0], site) or (
            f"no proxy of region {region} can be used now" if region else "no proxy is free",
            1.0,
        )
        return Choice(None, reason, seconds)
    return found


def still_usable(db: Database, proxy_id: int) -> Choice:
    """Read a proxy again; without one when it is gone, disabled or cools down."""
    row = db.fetch_one("usable_proxy", id=proxy_id)
    return _choice(row) if row is not None else Choice(None)


def shortage(supply: Row, site: str | None = None) -> tuple[str, float | None] | None:
    """Say why there is no proxy to be had, and for how long; None when there is one or none is."""
    total, enabled = int(supply["proxies"]), int(supply["enabled"])
    if not total or enabled > int(supply["cooling"]):
        return None
    if not enabled:
        what = "the only proxy is" if total == 1 else f"all {total} proxies are"
        return f"{what} disabled; enable or remove them: launcher.py proxies list", None
    what = "the only proxy cools" if enabled == 1 else f"all {enabled} proxies cool"
    where = "" if site is None else f"{blocks.where(site)} "
    return f"{what} down {where}after blocks or failures", float(supply["wait_seconds"])


def note_block(
    db: Database,
    proxy_id: int,
    cooldown_seconds: float = COOLDOWN_SECONDS,
    retry_after: float | None = None,
    reason: str = "a block",
    site: str = "",
) -> None:
    """Leave a proxy alone for a while for a site that refused what came through it."""
    blocks.note(db, proxy_id, site, max(cooldown_seconds, retry_after or 0.0), reason)


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


def named(db: Database, names: tuple[str, ...] = ()) -> list[Proxy]:
    """Return the proxies of these names, or all, with their credentials: for connecting."""
    known = {row["name"]: _proxy(row) for row in db.fetch_all("connect_proxies")}
    for name in names:
        if name not in known:
            raise _unknown(name)
    return [known[name] for name in names or known]


def record_trial(db: Database, proxy: Proxy, took_ms: int, problem: str | None) -> None:
    """Keep how the last test of a proxy went."""
    db.execute("record_proxy_test", id=proxy.id, took_ms=took_ms, problem=problem)


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
    return Choice(_proxy(row), failures=row["failures"])


def _proxy(row: Row) -> Proxy:
    return Proxy(
        scheme=row["scheme"],
        host=row["host"],
        port=row["port"],
        username=row["username"],
        password=row["password"],
        region=row["region"],
        id=row["id"],
        name=row["name"],
    )


def _columns(proxy: Proxy) -> dict[str, object]:
    return {
        "name": proxy.name,
        "scheme": proxy.scheme,
        "host": proxy.host,
        "port": proxy.port,
        "username": proxy.username,
        "password": proxy.password,
        "region": proxy.region,
    }


def _require(db: Database, name: str) -> None:
    if db.fetch_one("proxy_named", name=name) is None:
        raise _unknown(name)


def _unknown(name: str) -> UsageError:
    return UsageError(f"there is no proxy named {name!r}; see: launcher.py proxies list")
