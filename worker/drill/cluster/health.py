"""What the load balancer asks each member by HTTP: may clients write to it now?

A thread for each member asks it again and again. An answer that is old counts as no.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LOOK_SECONDS = 0.3
# More than a healthy member takes to answer on a busy machine.
FRESH_SECONDS = 4.0


class Health:
    """One member's answers, on a port of 127.0.0.1."""

    def __init__(self, takes_writes: Callable[[], bool]) -> None:
        self._takes_writes = takes_writes
        self._good_at = float("-inf")
        self._is_closed = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.port: int = self._server.server_address[1]
        self._threads = [
            threading.Thread(target=self._server.serve_forever, name="health", daemon=True),
            threading.Thread(target=self._look, name="health look", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    @property
    def is_good(self) -> bool:
        """Whether the member took writes a moment ago."""
        return time.monotonic() - self._good_at < FRESH_SECONDS

    def close(self) -> None:
        """Stop asking and answering."""
        self._is_closed.set()
        self._server.shutdown()
        self._server.server_close()
        for thread in self._threads:
            thread.join()

    def _look(self) -> None:
        while not self._is_closed.wait(LOOK_SECONDS):
            self._good_at = time.monotonic() if self._takes_writes() else float("-inf")

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        health = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200 if health.is_good else 503)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                """Say nothing: it is asked twice a second."""

        return Handler
