"""Loopback servers that speak the vendors' APIs, and start a real Chromium for each profile.

A server can be told to misbehave: to throttle, to answer nonsense, to name a dead endpoint, to
have a profile running already, to refuse a stop or never to answer it.
"""

from __future__ import annotations

import json
import socket
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.browser.debug_browser import DebugBrowser
from tests.browser.vendor_dialects import Dialect, Reply

EMAIL = "night@shift.test"
PASSWORD = "hunter2"
# The MD5 of the password, worked out by md5sum.
PASSWORD_MD5 = "2ab96390c7dbe3439de74d0c9b0b1767"
TOKEN = "token-of-the-launcher"


@dataclass
class VendorServer:
    """One vendor's API on loopback; `dialect` knows its shapes."""

    dialect: Dialect
    folder: Path
    throttle: int = 0
    nonsense: bool = False
    dead_endpoint: bool = False
    deaf_stop: bool = False
    # What it answers instead of stopping a profile; and whether it answers at all.
    stop_refusal: Reply | None = None
    hanging_stop: bool = False
    expired_tokens: int = 0
    # How often it still says that a profile runs which it was told to stop.
    slow_stop_looks: int = 0
    refusal: Reply | None = None
    calls: list[str] = field(default_factory=list)
    bodies: list[Any] = field(default_factory=list)
    authorizations: list[str | None] = field(default_factory=list)
    running: dict[str, DebugBrowser] = field(default_factory=dict)
    _stopping: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        vendor = self
        self._closing = threading.Event()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                vendor.answer(self)

            def do_POST(self) -> None:
                vendor.answer(self)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self.port = self._server.server_port
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    def close(self) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        for browser in self.running.values():
            browser.stop()

    def start_profile(self, profile: str) -> DebugBrowser:
        """Have the profile running, as if a person had started it."""
        self.running[profile] = DebugBrowser(self.folder / profile)
        return self.running[profile]

    def is_running(self, profile: str) -> bool:
        browser = self.running.get(profile)
        return browser is not None and browser.is_running

    def count(self, verb: str) -> int:
        return self.calls.count(verb)

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        length = int(request.headers.get("Content-Length", 0))
        body = json.loads(request.rfile.read(length)) if length else None
        if request.headers.get("Upgrade") == "websocket":
            self._relay(request)
            return
        verb, profile = self.dialect.read(request.command, request.path, body)
        self.calls.append(verb)
        self.bodies.append(body)
        self.authorizations.append(request.headers.get("Authorization"))
        reply = self._reply(verb, profile, body)
        content = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        request.send_response(reply.status)
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", str(len(content)))
        request.end_headers()
        request.wfile.write(content)

    def _reply(self, verb: str, profile: str, body: Any) -> Reply:
        if verb == "sign_in":
            is_right = body == {"email": EMAIL, "password": PASSWORD_MD5}
            return Reply(200, {"data": {"token": TOKEN}}) if is_right else Reply(401, {})
        if verb == "status":
            if self._stopping and self.slow_stop_looks:
                self.slow_stop_looks -= 1
            elif self._stopping:
                self.running.pop(self._stopping.pop()).stop()
            return Reply(200, self.dialect.status(self.is_running(profile)))
        if self.expired_tokens:
            self.expired_tokens -= 1
            return Reply(401, {"status": {"http_code": 401, "message": "token expired"}})
        if verb == "start":
            return self._start(profile)
        return self._stop(profile) if verb == "stop" else Reply(404, {})

    def _stop(self, profile: str) -> Reply:
        if self.hanging_stop:
            self._closing.wait()
        if self.stop_refusal is not None:
            return self.stop_refusal
        if not self.is_running(profile):
            return self.dialect.not_running
        if self.slow_stop_looks:
            self._stopping.append(profile)
        elif not self.deaf_stop:
            self.running.pop(profile).stop()
        return self.dialect.stopped

    def _start(self, profile: str) -> Reply:
        if self.refusal is not None:
            return self.refusal
        if self.throttle:
            self.throttle -= 1
            return self.dialect.throttled
        if self.is_running(profile):
            return self.dialect.already_running
        browser = self.start_profile(profile)
        if self.nonsense:
            return Reply(200, b"<html>not what you think</html>")
        if self.dead_endpoint:
            browser.port, browser.ws_url = 1, "ws://127.0.0.1:1/devtools/browser/gone"
        return Reply(200, self.dialect.started(browser))

    def _relay(self, request: BaseHTTPRequestHandler) -> None:
        """Pass a websocket on to the profile's browser, as Kameleo does."""
        request.close_connection = True
        browser = self.running.get(request.path.rpartition("/")[2])
        if browser is None:
            request.send_error(404)
            return
        try:
            upstream = socket.create_connection(("127.0.0.1", browser.port))
        except OSError:
            request.send_error(502)
            return
        path = "/" + browser.ws_url.split("/", 3)[3]
        headers = "".join(f"{name}: {value}\r\n" for name, value in request.headers.items())
        upstream.sendall(f"GET {path} HTTP/1.1\r\n{headers}\r\n".encode())
        back = threading.Thread(target=_pump, args=(upstream, request.connection), daemon=True)
        back.start()
        _pump(request.connection, upstream)
        back.join()
        upstream.close()


def _pump(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    for end in (source, target):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
