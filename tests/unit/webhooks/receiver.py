"""A receiver on loopback that answers a delivery as a test wants."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


class Receiver:
    """A socket that keeps what it is sent, and then behaves as the test wants."""

    def __init__(self, behave, context=None):
        self.requests = []
        self._behave, self._context = behave, context
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._accept)
        self._thread.start()

    def close(self):
        self._is_over.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join(timeout=10)
        self._listener.close()

    def wait(self, seconds):
        return self._is_over.wait(seconds)

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with suppress(OSError), connection:
                connection.settimeout(5)
                if self._context is not None:
                    with self._context.wrap_socket(connection, server_side=True) as secured:
                        self._answer(secured)
                else:
                    self._answer(connection)

    def _answer(self, connection):
        data = b""
        while b"\r\n\r\n" not in data or not data.endswith(b"}"):
            data += (more := connection.recv(65536))
            if not more:
                break
        self.requests.append(data)
        self._behave(self, connection)


def answer(data):
    return lambda receiver, connection: connection.sendall(data)
