"""Loopback servers that speak the vendors' APIs, and start a real Chromium for each profile.

A server can be told to misbehave: to throttle, to download, to answer nonsense, to name a dead
endpoint or none, to have a profile open elsewhere, to refuse a stop or never to answer it.
"""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.browser.debug_browser import DebugBrowser
from tests.browser.vendor_dialect import Dialect, Reply, State

EMAIL = "night@shift.test"
PASSWORD = "hunter2"
# The MD5 of the password, worked out by md5sum.
PASSWORD_MD5 = "2ab96390c7dbe3439de74d0c9b0b1767"
TOKEN = "token-of-the-launcher"
REFRESH_TOKEN = "token-to-refresh-with"
WORKSPACE_TOKEN = "token-of-the-workspace"
API_KEY = "key-of-the-cloud"


@dataclass
class VendorServer:
    """One vendor's API on loopback; `dialect` knows its shapes."""

    dialect: Dialect
    folder: Path
    throttle: int = 0
    retry_after: float | None = None
    # How often it is still downloading, and how often it has started but does not say where.
    preparing: int = 0
    unready: int = 0
    locked: bool = False
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
    # Answers a request itself, on the bare connection, if it wants to.
    hostile: Callable[[str, BaseHTTPRequestHandler], bool] | None = None
    # How long each answer takes.
    answer_seconds: float = 0.0
    calls: list[str] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    bodies: list[Any] = field(default_factory=list)
    authorizations: list[str | None] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0
    # What it starts for a profile in a folder of its own.
    browser: Callable[[Path], DebugBrowser] = DebugBrowser
    running: dict[str, DebugBrowser] = field(default_factory=dict)
    sessions: dict[str, State] = field(default_factory=dict)
    _stopping: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        vendor = self
        self._closing = threading.Event()
        self._counting = threading.Lock()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                vendor.answer(self)

            def do_POST(self) -> None:
                vendor.answer(self)

            def do_DELETE(self) -> None:
                vendor.answer(self)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        # Whoever has given up does not want the answer any more.
        self._server.handle_error = lambda *_: None
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
        self.running[profile] = self.browser(self.folder / profile)
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
        verb, name = self.dialect.read(request.command, request.path, body)
        if verb == "pids":
            verb, name = "status", str((body or {}).get("ids", [""])[0])
        self.calls.append(verb)
        self.times.append(time.monotonic())
        self.bodies.append(body)
        self.authorizations.append(request.headers.get(self.dialect.key_header or "Authorization"))
        with self._counting:
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            self._closing.wait(self.answer_seconds)
            if self.hostile is not None and self.hostile(verb, request):
                request.close_connection = True
                return
            self._send(request, self._reply(verb, name, body, request))
        finally:
            with self._counting:
                self.at_once -= 1

    def _send(self, request: BaseHTTPRequestHandler, reply: Reply) -> None:
        content = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        request.send_response(reply.status)
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", str(len(content)))
        for header, value in reply.headers.items():
            request.send_header(header, value)
        request.end_headers()
        request.wfile.write(content)

    def _reply(self, verb: str, name: str, body: Any, request: BaseHTTPRequestHandler) -> Reply:
        if verb in ("sign_in", "refresh", "log_in"):
            return self._sign_in(verb, body)
        needs_key = self.dialect.key_header not in (None, "Authorization")
        if needs_key and request.headers.get(str(self.dialect.key_header)) != API_KEY:
            return Reply(401, {"message": "Unauthorized", "msg": "Unauthorized"})
        if verb in ("status", "find"):
            return Reply(200, self._status(name))
        if self.expired_tokens:
            self.expired_tokens -= 1
            return Reply(401, {"status": {"http_code": 401, "message": "token expired"}})
        if verb == "start":
            return self._start(name, body)
        return self._stop(name) if verb == "stop" else Reply(404, {})

    def _sign_in(self, verb: str, body: Any) -> Reply:
        if verb == "log_in":
            is_right = body in ({"token": TOKEN}, {"email": EMAIL, "password": PASSWORD})
            return Reply(200 if is_right else 401, {"success": is_right, "msg": "log-in"})
        if verb == "refresh":
            wanted = {"email": EMAIL, "refresh_token": REFRESH_TOKEN, "workspace_id": "ws-1"}
            return Reply(200 if body == wanted else 401, {"data": {"token": WORKSPACE_TOKEN}})
        if body != {"email": EMAIL, "password": PASSWORD_MD5}:
            return Reply(401, {})
        return Reply(200, {"data": {"token": TOKEN, "refresh_token": REFRESH_TOKEN}})

    def _status(self, name: str) -> Any:
        assert self.dialect.status is not None
        if self._stopping and self.slow_stop_looks:
            self.slow_stop_looks -= 1
        elif self._stopping:
            self.running.pop(self._stopping.pop()).stop()
        if self.dialect.has_sessions:
            states = [self._now(state) for state in self.sessions.values()]
            named = self.sessions.get(name, State(""))
            return self.dialect.status(named, states)
        names = {*self.running, *([name] if name else ["p-1"])}
        states = [self._state_of(each) for each in sorted(names)]
        return self.dialect.status(self._state_of(name), states)

    def _state_of(self, profile: str) -> State:
        if self.locked:
            return State(profile, "locked")
        is_running = self.is_running(profile)
        name = "running" if is_running else "stopped"
        return State(profile, name, self.running[profile] if is_running else None)

    def _now(self, state: State) -> State:
        if not self.is_running(state.profile):
            state.name = "stopped"
        return state

    def _stop(self, name: str) -> Reply:
        if self.hanging_stop:
            self._closing.wait()
        if self.stop_refusal is not None:
            return self.stop_refusal
        state = self.sessions.get(name)
        profile = state.profile if state is not None else name
        is_known = state.name == "running" if state is not None else not self.dialect.has_sessions
        if not is_known or not self.is_running(profile):
            return self.dialect.not_running
        if state is not None:
            state.name = "stopped"
        if self.slow_stop_looks:
            self._stopping.append(profile)
        elif not self.deaf_stop:
            self.running.pop(profile).stop()
        return self.dialect.stopped

    def _start(self, profile: str, body: Any) -> Reply:
        if self.refusal is not None:
            return self.refusal
        if self.throttle:
            self.throttle -= 1
            wait = {"Retry-After": str(self.retry_after)} if self.retry_after else {}
            return Reply(self.dialect.throttled.status, self.dialect.throttled.body, wait)
        if self.preparing and self.dialect.preparing is not None:
            self.preparing -= 1
            return self.dialect.preparing
        if self.locked and self.dialect.locked is not None:
            return self.dialect.locked
        is_running = self.is_running(profile) and not self.dialect.has_sessions
        if is_running and self.dialect.already_running is not None:
            return self.dialect.already_running
        browser = self.running[profile] if is_running else self.start_profile(profile)
        session = self._session_of(profile, body)
        if self.nonsense:
            return Reply(200, b"<html>not what you think</html>")
        if self.dead_endpoint:
            browser.port, browser.ws_url = 1, "ws://127.0.0.1:1/devtools/browser/gone"
        if self.unready and self.dialect.unready is not None:
            self.unready -= 1
            return Reply(200, self.dialect.unready)
        return Reply(200, session | self.dialect.started(browser))

    def _session_of(self, profile: str, body: Any) -> dict[str, str]:
        if not self.dialect.has_sessions:
            return {}
        name = f"session-{len(self.sessions) + 1}"
        self.sessions[name] = State(
            profile, "running", self.running[profile], name, (body or {}).get("userMetadata")
        )
        return {"id": name}

    def _relay(self, request: BaseHTTPRequestHandler) -> None:
        """Pass a websocket on to the profile's browser, as Kameleo and GoLogin's cloud do."""
        request.close_connection = True
        # Behind a path, or behind what a cloud wants to know, the profile comes last.
        browser = self.running.get(re.split("[/=]", request.path)[-1])
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
