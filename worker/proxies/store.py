"""Add, change, list, enable, disable and remove proxies.

Credentials leave this module only inside a `Proxy`, whose texts do not show them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from worker.database.client import Database, Row, Transaction
from worker.errors import BadData, DuplicateKey, UsageError
from worker.installation import command_line
from worker.proxies import addresses
from worker.proxies.proxy import Proxy

# Told, in the transaction of the change, that a proxy is another than before, and how.
OnChange = Callable[[Transaction, str, str], object]


def _nobody(*_: object) -> None:
    """Nobody has to know."""


def add(db: Database, proxy: Proxy, on_change: OnChange = _nobody) -> None:
    """Add one named proxy; raises UsageError when there is one of that name."""
    try:
        db.transaction(lambda tx: _insert(tx, proxy, on_change))
    except DuplicateKey:
        raise UsageError(
            f"there is a proxy named {proxy.name!r} already; "
            f"take another name, or change it: {command_line('proxies', 'set', proxy.name)}"
        ) from None
    except BadData:
        # The server's own words might repeat a value.
        raise UsageError(f"proxy {proxy.name!r}: its host or login is too long") from None


def add_all(db: Database, proxies: Iterable[Proxy], on_change: OnChange = _nobody) -> int:
    """Add proxies in one transaction, all or none; raises UsageError for a name that is taken."""
    wanted = list(proxies)

    def work(tx: Transaction) -> int:
        for proxy in wanted:
            _insert(tx, proxy, on_change)
        return len(wanted)

    try:
        return db.transaction(work)
    except DuplicateKey:
        raise UsageError("a name is taken by now; nothing was imported, try again") from None
    except BadData:
        raise UsageError("a host or login is too long; nothing was imported") from None


def change(db: Database, proxy: Proxy, on_change: OnChange = _nobody) -> None:
    """Give the proxy of that name this address and login, and this region if it names one.

    It may be chosen at once if it is enabled. Blocks were of its address, and stay with that.
    """

    def work(tx: Transaction) -> None:
        rows = tx.fetch_all("lock_proxy", name=proxy.name)
        if not rows:
            raise _unknown(proxy.name or "")
        changed = replace(proxy, region=proxy.region or rows[0]["region"])
        tx.execute("change_proxy", **_columns(changed))
        if (rows[0]["host"], rows[0]["port"]) != (proxy.host, proxy.port):
            tx.execute("forget_proxy_blocks", name=proxy.name)
        _note(tx, changed, on_change)

    try:
        db.transaction(work)
    except BadData:
        raise UsageError(f"proxy {proxy.name!r}: its host or login is too long") from None


def all_proxies(db: Database) -> list[Row]:
    """List every proxy with its state, without credentials."""
    return db.fetch_all("read_proxies")


def enable(db: Database, name: str) -> None:
    """Let a proxy be chosen again, at once; raises UsageError when there is none of that name."""
    _require(db, name)
    db.execute("switch_proxy", name=name, is_enabled=True, reason=None)
    db.execute("forget_proxy_blocks", name=name)


def disable(db: Database, name: str, reason: str | None = None) -> None:
    """Stop using a proxy; its accounts get another one."""
    _require(db, name)
    db.execute("switch_proxy", name=name, is_enabled=False, reason=(reason or "by hand")[:255])


def remove(
    db: Database, name: str, check: Callable[[Transaction], object] = lambda tx: None
) -> None:
    """Forget a proxy and which accounts had it, unless `check` raises; where it was is kept."""

    def work(tx: Transaction) -> None:
        check(tx)
        tx.execute("remove_proxy", name=name)

    _require(db, name)
    db.transaction(work)


def named(db: Database, names: tuple[str, ...] = ()) -> list[Proxy]:
    """Return the proxies of these names, or all, with their credentials: for connecting."""
    known = {row["name"]: Proxy.from_row(row) for row in db.fetch_all("connect_proxies")}
    for name in names:
        if name not in known:
            raise _unknown(name)
    return [known[name] for name in names or known]


def record_trial(
    db: Database,
    proxy: Proxy,
    took_ms: int,
    problem: str | None,
    exit_address: str | None = None,
    on_change: OnChange = _nobody,
) -> None:
    """Keep how the last test of a proxy went, and the address that sites see, if it was told."""

    def work(tx: Transaction) -> None:
        tx.execute("record_proxy_test", id=proxy.id, took_ms=took_ms, problem=problem)
        if exit_address is None or proxy.name is None:
            return
        if difference := addresses.note_exit(tx, proxy.name, exit_address):
            on_change(tx, proxy.name, difference)

    db.transaction(work)


def _insert(tx: Transaction, proxy: Proxy, on_change: OnChange) -> None:
    tx.execute("add_proxy", **_columns(proxy))
    _note(tx, proxy, on_change)


def _note(tx: Transaction, proxy: Proxy, on_change: OnChange) -> None:
    difference = addresses.note(tx, proxy)
    if difference and proxy.name is not None:
        on_change(tx, proxy.name, difference)


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
