"""A browser elsewhere is behind proxies only if its own command line proves that."""

from __future__ import annotations

import pytest

from worker.browser.elsewhere.sealing import gap
from worker.browser.way_out import NO_UDP, NOWHERE, look_up_only

HOSTS = frozenset({"proxy.test"})
SEALED = f"chrome --proxy-server={NOWHERE} {NO_UDP} {look_up_only(HOSTS)} --headless"


def test_our_own_flags_are_a_proof():
    assert gap(SEALED, HOSTS) is None


@pytest.mark.parametrize(
    "line",
    [
        "",
        "chrome --headless",
        SEALED.replace(f"--proxy-server={NOWHERE} ", ""),
        SEALED.replace(NOWHERE, "direct://"),
        f"{SEALED} --no-proxy-server",
        SEALED.replace(NO_UDP, ""),
        SEALED.replace(look_up_only(HOSTS), ""),
        SEALED.replace("proxy.test", "proxy.test,EXCLUDE shop.test"),
    ],
)
def test_anything_less_is_none(line):
    assert gap(line, HOSTS) is not None
