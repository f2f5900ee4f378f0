"""A pooler before a server, as ProxySQL is one without multiplexing: for tests.

It lets everybody in, has a greeting and ids of its own, and hands a client one session of the
server's for as long as the client stays. Then that session is reset, and the next client gets it.
"""

from __future__ import annotations

import os
import socket
import struct
import threading
from collections.abc import Mapping
from contextlib import closing, suppress
from types import MappingProxyType

import pymysql
from pymysql.constants import CLIENT

from worker.database_settings import DatabaseSettings

GREETING = "8.0.30-pooler"
COM_QUIT, COM_RESET_CONNECTION = 1, 31
OK = b"\x00\x00\x00\x02\x00\x00\x00"
# What PyMySQL offers a server by itself: both sides must speak alike, since bytes are passed on.
CAPABILITIES = CLIENT.CAPABILITIES | CLIENT.MULTI_STATEMENTS | CLIENT.CONNECT_WITH_DB


class Gone(Exception):
    """One side has closed its connection."""


class Pooler:
    """Listens on a port of 127.0.0.1; counts its clients and the sessions that they shared.

    In place of a statement in `asks` another one is sent: so the server seems to be another.
    """

    def __init__(
        self,
        behind: DatabaseSettings,
        greeting: str = GREETING,
        asks: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._behind, self._greeting = behind, greeting
        self._asks = {before.encode(): after.encode() for before, after in asks.items()}
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.clients = self.sessions = 0
        self._idle: list[pymysql.Connection] = []
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        threading.Thread(target=self._listen, daemon=True).start()

    def drop_clients(self) -> None:
        """Break all connections of clients, as a pooler does that is started again."""
        with self._lock:
            for client in self._open:
                with suppress(OSError):
                    client.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Take no further client, and end all sessions."""
        self._listener.close()
        self.drop_clients()
        with self._lock:
            for session in self._idle:
                session.close()

    def _listen(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with self._lock:
            self.clients += 1
            self._open.add(client)
            number = self.clients
        try:
            with closing(client), suppress(Gone, OSError, pymysql.Error):
                client.sendall(_packet(0, _greeting(self._greeting, number)))
                receive(client)
                session = self._take()
                client.sendall(_packet(2, OK))
                self._pass_on(client, session)
        finally:
            with self._lock:
                self._open.discard(client)

    def _take(self) -> pymysql.Connection:
        with self._lock:
            if self._idle:
                return self._idle.pop()
            self.sessions += 1
        return pymysql.connect(
            user=self._behind.user,
            unix_socket=self._behind.unix_socket,
            database=self._behind.database,
            autocommit=True,
            client_flag=CLIENT.MULTI_STATEMENTS,
        )

    def _pass_on(self, client: socket.socket, session: pymysql.Connection) -> None:
        server = session._sock
        assert server is not None
        answers = threading.Thread(target=_copy, args=(server, client), daemon=True)
        answers.start()
        try:
            while (request := receive(client))[4] != COM_QUIT:
                server.sendall(self._instead_of(request))
        except (Gone, OSError):
            # It may be in the middle of an answer: nobody can use that session again.
            server.shutdown(socket.SHUT_RDWR)
            answers.join(10)
            session._force_close()
            return
        # The copying ends with the first answer after the client's last request, which is this one.
        answers.is_last = True  # type: ignore[attr-defined]
        server.sendall(_packet(0, bytes([COM_RESET_CONNECTION])))
        answers.join(10)
        with self._lock:
            self._idle.append(session)

    def _instead_of(self, request: bytes) -> bytes:
        other = self._asks.get(request[5:])
        return request if other is None else _packet(request[3], request[4:5] + other)


def receive(side: socket.socket) -> bytes:
    """Read one packet, with its head; raises Gone."""
    head = _exactly(side, 4)
    return head + _exactly(side, int.from_bytes(head[:3], "little"))


def _copy(server: socket.socket, client: socket.socket) -> None:
    """Pass answers on, until the one to a reset, which is nobody's."""
    with suppress(Gone, OSError):
        while True:
            data = server.recv(65536)
            if not data or getattr(threading.current_thread(), "is_last", False):
                return
            with suppress(OSError):
                client.sendall(data)


def _exactly(side: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        if not (more := side.recv(size - len(data))):
            raise Gone
        data += more
    return data


def _packet(number: int, body: bytes) -> bytes:
    return len(body).to_bytes(3, "little") + bytes([number]) + body


def _greeting(version: str, thread_id: int) -> bytes:
    # No byte of it may be zero.
    salt = bytes(1 + byte % 127 for byte in os.urandom(20))
    return b"".join(
        (
            b"\x0a" + version.encode() + b"\0",
            struct.pack("<I", thread_id) + salt[:8] + b"\0",
            struct.pack("<HBHH", CAPABILITIES & 0xFFFF, 45, 2, CAPABILITIES >> 16),
            bytes([21]) + bytes(10) + salt[8:] + b"\0",
            b"mysql_native_password\0",
        )
    )
