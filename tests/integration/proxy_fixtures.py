"""Proxies that tests add, block and let cool off, with a clock that stands still."""

from __future__ import annotations

import pytest

from worker.proxies import choice
from worker.proxies import store as proxies
from worker.proxies.proxy import Proxy

SITE = "shop.test"


@pytest.fixture
def add(database):
    def add(*names: str, **fields) -> None:
        for name in names:
            proxy = Proxy("http", f"{name}.example", 8080, "night", "s3cret", name=name, **fields)
            proxies.add(database, proxy)

    return add


def chosen(database, site=SITE, **wanted) -> str | None:
    proxy = choice.look(database, site=site, **wanted).proxy
    return proxy.name if proxy else None


def look(database, site=SITE, **wanted) -> choice.Choice:
    return choice.look(database, site=site, **wanted)


def id_of(database, name: str) -> int:
    return next(row["id"] for row in proxies.all_proxies(database) if row["name"] == name)


def block(database, name: str, site=SITE, **how) -> None:
    choice.note_block(database, id_of(database, name), site=site, **how)


def stop_the_clock(database) -> None:
    """Let no time pass for this session."""
    database.run_statement("SET timestamp = 1000000000")


def cool_off(database, *names: str) -> None:
    """Let the cooling down of proxies be over."""
    for change in (
        "UPDATE proxies SET cooling_until = UTC_TIMESTAMP(6) WHERE name IN %(names)s",
        "UPDATE proxy_blocks SET cooling_until = UTC_TIMESTAMP(6)"
        " WHERE proxy_id IN (SELECT id FROM proxies WHERE name IN %(names)s)",
    ):
        database.run_statement(change, {"names": names})
