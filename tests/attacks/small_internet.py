"""A public internet of two hosts, for a machine that has none: their names, and the way to them.

Only what lies outside is made up: what a name resolves to, and where a public address leads. Which
addresses may be reached is decided by the code under test.
"""

from __future__ import annotations

import asyncio
import socket
import threading

import pytest

PUBLIC = "93.184.216.34"

_real_lookup = socket.getaddrinfo
_real_connect = asyncio.open_connection


class SmallInternet:
    """`names` says what each name resolves to: one answer after the other, the last for ever."""

    def __init__(self, port: int) -> None:
        self.names: dict[str, list[str]] = {}
        # Every address that somebody connected to.
        self.connected: list[str] = []
        self._port = port

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(socket, "getaddrinfo", self._look_up)
        monkeypatch.setattr(asyncio, "open_connection", self._connect)

    def _look_up(self, host, port, *rest, **options):
        answers = self.names.get(host)
        if answers is None:
            return _real_lookup(host, port, *rest, **options)
        address = answers.pop(0) if len(answers) > 1 else answers[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    async def _connect(self, host, port, **options):
        self.connected.append(host)
        if host == PUBLIC:
            host, port = "127.0.0.1", self._port
        return await _real_connect(host, port, **options)


class Trap:
    """A port on loopback, for TCP and UDP, that counts whoever knocks."""

    def __init__(self) -> None:
        self._tcp = socket.create_server(("127.0.0.1", 0))
        self.port = self._tcp.getsockname()[1]
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(("127.0.0.1", self.port))
        self._udp.setblocking(False)
        self._knocks = 0
        self._thread = threading.Thread(target=self._listen)
        self._thread.start()

    @property
    def knocks(self) -> int:
        """How often somebody has come, by TCP or UDP."""
        try:
            while self._udp.recv(65536) is not None:
                self._knocks += 1
        except BlockingIOError:
            pass
        return self._knocks

    def _listen(self) -> None:
        while True:
            try:
                link, _ = self._tcp.accept()
            except OSError:
                return
            self._knocks += 1
            link.close()

    def close(self) -> None:
        self._tcp.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._tcp.close()
        self._udp.close()
