"""A loopback proxy before the database that can do what networks do on bad nights.

Refuse, reset, hold bytes back, or go half-open: swallow everything and say nothing. It runs in a
thread of the drill and carries bytes; it knows nothing of MySQL.
"""

from __future__ import annotations

import random
import selectors
import socket
import struct
import threading
from contextlib import suppress
from dataclasses import dataclass

TICK_SECONDS = 0.1
CHUNK = 1 << 16


@dataclass(slots=True, eq=False)
class _Link:
    """One client's connection and ours to the server on its behalf."""

    client: socket.socket
    server: socket.socket
    is_swallowed: bool = False

    def other(self, end: socket.socket) -> socket.socket:
        return self.server if end is self.client else self.client


class Proxy:
    """Carries connections from `port` to the server's port, well or badly."""

    def __init__(self, server_port: int) -> None:
        self._server_port = server_port
        self._listener = _listen(0)
        self.port: int = self._listener.getsockname()[1]
        self._is_open = True
        self._lock = threading.Lock()
        self._links: list[_Link] = []
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._swallows_new = False
        self._is_holding = False
        self._thread = threading.Thread(target=self._serve, name="proxy", daemon=True)
        self._thread.start()

    def refuse(self) -> None:
        """Take no more connections, and break those that are there."""
        with self._lock:
            self._selector.unregister(self._listener)
            self._listener.close()
            self._reset_all()

    def accept(self) -> None:
        """Take connections again."""
        with self._lock:
            self._listener = _listen(self.port)
            self._selector.register(self._listener, selectors.EVENT_READ)

    def reset(self) -> None:
        """Break every connection, rudely."""
        with self._lock:
            self._reset_all()

    def go_half_open(self, share: float, rng: random.Random) -> None:
        """Swallow what comes over a share of the connections, for good, and over all new ones."""
        with self._lock:
            self._swallows_new = True
            for link in self._links:
                link.is_swallowed = link.is_swallowed or rng.random() < share

    def take_new(self) -> None:
        """Carry new connections again; a swallowed one never comes back."""
        with self._lock:
            self._swallows_new = False

    def hold(self) -> None:
        """Keep all bytes back, without losing one."""
        with self._lock:
            self._is_holding = True

    def let_go(self) -> None:
        """Deliver what was held back, late as it is."""
        with self._lock:
            self._is_holding = False

    def close(self) -> None:
        """End the thread and every connection."""
        self._is_open = False
        self._thread.join()
        with self._lock:
            self._reset_all()
            with suppress(KeyError, ValueError):
                self._selector.unregister(self._listener)
            self._listener.close()
            self._selector.close()

    def _serve(self) -> None:
        while self._is_open:
            if self._is_holding:
                # Nothing is read, so that the kernel's buffers do the holding.
                threading.Event().wait(TICK_SECONDS / 5)
                continue
            events = self._selector.select(TICK_SECONDS)
            with self._lock:
                for key, _ in events:
                    if key.fileobj is self._listener:
                        self._take_connection()
                    elif isinstance(key.fileobj, socket.socket) and key.fileobj.fileno() >= 0:
                        self._carry(key.data, key.fileobj)

    def _take_connection(self) -> None:
        try:
            client, _ = self._listener.accept()
        except OSError:
            return
        try:
            server = socket.create_connection(("127.0.0.1", self._server_port), timeout=1.0)
        except OSError:
            _abort(client)
            return
        link = _Link(client, server, is_swallowed=self._swallows_new)
        self._links.append(link)
        for end in (client, server):
            end.settimeout(5.0)
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._selector.register(end, selectors.EVENT_READ, link)

    def _carry(self, link: _Link, end: socket.socket) -> None:
        try:
            data = end.recv(CHUNK)
            if data and not link.is_swallowed:
                link.other(end).sendall(data)
        except OSError:
            data = b""
        if not data and not (link.is_swallowed and end is link.server):
            self._drop(link)
        elif not data:
            # The client of a half-open connection is not told that its server has gone.
            self._selector.unregister(end)

    def _reset_all(self) -> None:
        for link in list(self._links):
            self._drop(link)

    def _drop(self, link: _Link) -> None:
        self._links.remove(link)
        for end in (link.client, link.server):
            with suppress(KeyError, ValueError):
                self._selector.unregister(end)
            _abort(end)


def _listen(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(64)
    listener.setblocking(False)
    return listener


def _abort(end: socket.socket) -> None:
    """Close with a reset instead of a farewell."""
    with suppress(OSError):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    end.close()
