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


@pytest.fixture
def refusing() -> Iterator[Callable[[str], int]]:
    """Start an HTTP proxy that refuses one tunnel, in these words; return its port."""
    threads: list[threading.Thread] = []

    def refusing(words: str) -> int:
        listener = socket.create_server(("127.0.0.1", 0))

        def serve() -> None:
            with listener, listener.accept()[0] as link:
                link.recv(65536)
                link.sendall(f"HTTP/1.1 503 {words}\r\nContent-Length: 0\r\n\r\n".encode())

        threads.append(threading.Thread(target=serve))
        threads[-1].start()
        port: int = listener.getsockname()[1]
        return port

    yield refusing
    for thread in threads:
        thread.join(10)


def refusal(proxy: Proxy) -> str:
    (trial,) = try_all([proxy], "https://shop.test/", 5)
    assert trial.problem is not None
    return trial.problem


def test_a_login_of_one_letter_does_not_eat_the_words_of_a_message(refusing):
    port = refusing("that host cannot be reached at all")

    problem = refusal(Proxy("http", "127.0.0.1", port, username="a", password="t"))

    assert problem == "503 that host cannot be reached at all"


def test_a_login_of_four_letters_is_hidden_as_a_word_and_no_words_are_eaten(refusing):
    port = refusing("user host: localhost unknown")

    problem = refusal(Proxy("http", "127.0.0.1", port, username="host", password="known"))

    assert problem == "503 user [redacted]: localhost unknown"


def test_a_longer_login_is_hidden_wherever_the_proxy_repeats_it(refusing):
    port = refusing("no mr-adams-eu by swordfish7 here, http://mr-adams:swordfish7@p/")

    problem = refusal(Proxy("http", "127.0.0.1", port, username="mr-adams", password="swordfish7"))

    assert "adams" not in problem
    assert "swordfish" not in problem
    assert problem.startswith("503 no [redacted]-eu by [redacted] here")
