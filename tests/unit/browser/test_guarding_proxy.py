"""The guarding proxy's end: no connection is left behind, whenever it was made."""

from __future__ import annotations

import gc
import socket
import threading
from contextlib import suppress
from urllib.parse import urlsplit

from worker.browser.guarding_proxy import GuardingProxy


def knock(port: int, over: threading.Event) -> None:
    while not over.is_set():
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", port), 1).close()
        over.wait(0.001)


def test_a_connection_that_comes_while_it_closes_is_cut_as_well(caplog):
    for _ in range(10):
        proxy, over = GuardingProxy(), threading.Event()
        port = urlsplit(proxy.url).port
        assert port is not None
        guests = [threading.Thread(target=knock, args=(port, over)) for _ in range(3)]
        for guest in guests:
            guest.start()
        # One that says nothing.
        silent = socket.create_connection(("127.0.0.1", port), 5)

        proxy.close()

        over.set()
        for guest in guests:
            guest.join()
        silent.close()
        # Whatever was left behind complains when it is collected, and fails this test.
        gc.collect()
    assert caplog.text == ""


def test_one_that_is_closed_before_it_listens_leaves_nothing_behind(caplog):
    for _ in range(100):
        GuardingProxy().close()
    gc.collect()

    assert caplog.text == ""
