"""Remember where each proxy was, also after it is removed, and tell when it is somewhere else.

Its address is the host and port of its URL, and what sites see as far as a test could tell.
"""

from __future__ import annotations

from worker.database.client import Transaction
from worker.proxies.proxy import Proxy


def note(tx: Transaction, proxy: Proxy) -> str | None:
    """Keep where a proxy is; say what differs from before, if there was one of its name."""
    known = tx.fetch_all("known_proxy_address", name=proxy.name)
    tx.execute(
        "note_proxy_address",
        name=proxy.name,
        host=proxy.host,
        port=proxy.port,
        region=proxy.region,
    )
    if not known:
        return None
    was = known[0]
    differences = []
    if (was["host"], was["port"]) != (proxy.host, proxy.port):
        differences.append(f"address {was['host']}:{was['port']} → {proxy.host}:{proxy.port}")
    if was["region"] != proxy.region:
        differences.append(f"region {was['region'] or '–'} → {proxy.region or '–'}")
    return ", ".join(differences) or None


def note_exit(tx: Transaction, name: str, exit_address: str) -> str | None:
    """Keep the address that sites see of a proxy; say what differs from before, if it was known."""
    known = tx.fetch_all("known_proxy_address", name=name)
    was = known[0]["exit_address"] if known else None
    if was == exit_address:
        return None
    tx.execute("note_exit_address", name=name, exit_address=exit_address)
    return None if was is None else f"sites see {was} → {exit_address}"
