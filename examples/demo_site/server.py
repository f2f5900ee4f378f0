"""The site on a loopback port: HTTP in, HTTP out, or whatever else a page prefers to do.

Each connection has a daemon thread and serves one request; stopping the server ends silences
and delays at once.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import socketserver
import struct
import sys
import threading
from collections.abc import Iterator
from http.cookies import CookieError, SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from examples.demo_site.application import Application
from examples.demo_site.exchange import Request, Reset, Response, Silence

HOST = "127.0.0.1"
MAX_FORM_BYTES = 10_000


@contextlib.contextmanager
def serve(port: int = 0) -> Iterator[str]:
    """Run the site in a thread and yield its base URL; port 0 takes any free one.

    Raises OSError if the port is taken.
    """
    with _Server(port) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield server.base_url
        finally:
            server.stopping.set()
            server.shutdown()
            thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int) -> None:
        self.stopping = threading.Event()
        super().__init__((HOST, port), _Handler)
        self.base_url = f"http://{HOST}:{self.server_port}"
        self.application = Application(self.base_url)

    def server_bind(self) -> None:
        # The parent class would look the host's name up, which may ask a name server.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = HOST, self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        # Browsers drop connections as a matter of course; anything else is a bug worth seeing.
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = 30

    def do_GET(self) -> None:
        self._respond({})

    def do_HEAD(self) -> None:
        self._respond({})

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit() and len(length) < 10):
            self.send_error(411)
        elif int(length) > MAX_FORM_BYTES:
            self.send_error(413)
        else:
            body = self.rfile.read(int(length)).decode("utf-8", "replace")
            self._respond(dict(parse_qsl(body, keep_blank_values=True)))

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: stdout carries the base URL and stderr is for bugs."""

    def _respond(self, form: dict[str, str]) -> None:
        self.server.application.count(self.command, self.path)
        target = urlsplit(self.path)
        query = dict(parse_qsl(target.query))
        request = Request(self.command, target.path, query, form, self._cookies())
        match self.server.application.answer(request):
            case Response() as response:
                self._send(response)
            case Silence():
                self._keep_silent()
            case Reset():
                self._reset()

    def _cookies(self) -> dict[str, str]:
        try:
            jar = SimpleCookie(self.headers.get("Cookie", ""))
        except CookieError:
            return {}
        return {name: morsel.value for name, morsel in jar.items()}

    def _send(self, response: Response) -> None:
        self.server.stopping.wait(response.delay_seconds)
        body = response.body.encode()
        self.send_response(response.status)
        self.send_header("Content-Type", response.content_type)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        for name, value in response.headers:
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _keep_silent(self) -> None:
        """Wait until the client hangs up (its socket turns readable) or the server stops."""
        while not self.server.stopping.is_set():
            if select.select([self.connection], [], [], 0.1)[0]:
                return

    def _reset(self) -> None:
        # A linger time of zero makes close() send RST. The descriptor is closed by itself because
        # the socket object stays open, and would end politely, as long as its streams do.
        linger = struct.pack("ii", 1, 0)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        os.close(self.connection.detach())
