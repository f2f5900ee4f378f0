"""The drill's proxy carries bytes faithfully, and fails in exactly the way it is told to."""

from __future__ import annotations

import random
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, suppress

import pytest

from worker.drill.proxy import Proxy

SOON = 0.5


@pytest.fixture
def echo_port() -> Iterator[int]:
    """A server that says everything back."""
    listener = socket.create_server(("127.0.0.1", 0))

    def answer(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            while data := connection.recv(1 << 16):
                connection.sendall(data)

    def serve() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                threading.Thread(target=answer, args=(connection,), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    yield listener.getsockname()[1]
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


@pytest.fixture
def proxy(echo_port: int) -> Iterator[Proxy]:
    with closing(Proxy(echo_port)) as proxy:
        yield proxy


def connect(proxy: Proxy) -> socket.socket:
    return socket.create_connection(("127.0.0.1", proxy.port), timeout=5)


def ask(connection: socket.socket, data: bytes = b"ping") -> bytes:
    connection.sendall(data)
    answer = b""
    while len(answer) < len(data):
        got = connection.recv(1 << 16)
        if not got:
            raise ConnectionAbortedError
        answer += got
    return answer


def ask_once(proxy: Proxy) -> bytes:
    with connect(proxy) as connection:
        return ask(connection)


def test_it_carries_bytes_both_ways_and_notices_a_farewell(proxy):
    big = random.Random(1).randbytes(1 << 20)
    with connect(proxy) as one, connect(proxy) as two:
        assert ask(one, big) == big
        assert ask(two) == b"ping"
        one.close()
        assert ask(two) == b"ping"


def test_a_reset_breaks_every_connection_and_the_next_one_works(proxy):
    with connect(proxy) as old:
        assert ask(old) == b"ping"
        proxy.reset()
        with pytest.raises(ConnectionError):
            ask(old)
    assert ask_once(proxy) == b"ping"


def test_while_it_refuses_there_is_nobody_to_connect_to(proxy):
    with connect(proxy) as old:
        assert ask(old) == b"ping"
        proxy.refuse()
        with pytest.raises(ConnectionError):
            connect(proxy)
    proxy.accept()
    assert ask_once(proxy) == b"ping"


def test_a_half_open_connection_swallows_everything_for_good(proxy):
    with connect(proxy) as old:
        assert ask(old) == b"ping"
        proxy.go_half_open(1.0, random.Random(1))
        with connect(proxy) as meanwhile:
            for silent in (old, meanwhile):
                silent.settimeout(SOON)
                silent.sendall(b"ping")
                with pytest.raises(TimeoutError):
                    silent.recv(4)
        proxy.take_new()
        assert ask_once(proxy) == b"ping"
        with pytest.raises(TimeoutError):
            old.recv(4)


def test_held_bytes_come_late_and_whole(proxy):
    with connect(proxy) as connection:
        assert ask(connection) == b"ping"
        proxy.hold()
        connection.sendall(b"late")
        connection.settimeout(SOON)
        with pytest.raises(TimeoutError):
            connection.recv(4)
        proxy.let_go()
        connection.settimeout(5)
        assert connection.recv(4) == b"late"


def test_a_server_that_is_away_looks_like_a_broken_connection(closed_port):
    with closing(Proxy(closed_port)) as proxy, pytest.raises(ConnectionError):
        ask_once(proxy)
