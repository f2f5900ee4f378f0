"""Trying a SOCKS5 proxy: greeted and asked for a connection as the protocol says."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from worker.proxies.proxy import Proxy
from worker.proxies.trial import Trial, try_all


@pytest.fixture
def socks() -> Iterator[Callable[..., tuple[Proxy, list[bytes]]]]:
    """Start a SOCKS5 proxy for one connection that gives these answers; return what it was told."""
    threads: list[threading.Thread] = []

    def socks(*answers: bytes) -> tuple[Proxy, list[bytes]]:
        told: list[bytes] = []
        listener = socket.create_server(("127.0.0.1", 0))

        def serve() -> None:
            with listener, listener.accept()[0] as link:
                for answer in answers:
                    told.append(link.recv(300))
                    link.sendall(answer)

        threads.append(threading.Thread(target=serve))
        threads[-1].start()
        return Proxy("socks5", "127.0.0.1", listener.getsockname()[1], name="s"), told

    yield socks
    for thread in threads:
        thread.join(10)


def tried(proxy: Proxy) -> Trial:
    (trial,) = try_all([proxy], "http://shop.test:81/", 5)
    return trial


def test_a_socks_proxy_that_reaches_the_host_works(socks):
    proxy, told = socks(b"\x05\x00", b"\x05\x00\x00\x01" + bytes(6))

    assert tried(proxy).problem is None
    assert told == [b"\x05\x01\x00", b"\x05\x01\x00\x03\x09shop.test\x00\x51"]


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ((b"\x05\xff",), "it is not a SOCKS5 proxy, or it wants a login"),
        ((b"\x05\x00", b"\x05\x04\x00\x01" + bytes(6)), "shop.test: host unreachable"),
        ((b"\x05\x00", b""), "shop.test: general failure"),
    ],
)
def test_what_a_socks_proxy_refuses_is_told(socks, answers, said):
    assert said in tried(socks(*answers)[0]).problem
