"""Loopback servers that speak the vendors' APIs, and start a real Chromium for each profile.

A server can be told to misbehave: to throttle, to answer nonsense, to name a dead endpoint, to
have a profile running already.
"""

from __future__ import annotations

import base64
import json
import socket
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from worker.browser.options import find_browser
from worker.proxies.proxy import Proxy
from worker.system import process_tree

EMAIL = "night@shift.test"
PASSWORD = "hunter2"
# The MD5 of the password, worked out by md5sum.
PASSWORD_MD5 = "2ab96390c7dbe3439de74d0c9b0b1767"
TOKEN = "token-of-the-launcher"


class DebugBrowser:
    """A Chromium of somebody else's, with a port for debugging."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "DevToolsActivePort").unlink(missing_ok=True)
        self._log = (folder / "chromium.log").open("w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [
                str(find_browser()),
                "--headless",
                "--no-sandbox",
                "--disable-background-networking",
                "--remote-debugging-port=0",
                f"--user-data-dir={folder}",
                "about:blank",
            ],
            stdout=subprocess.DEVNULL,
            stderr=self._log,
            start_new_session=True,
        )
        started = process_tree.identify(self.process.pid)
        assert started is not None
        self._id = started
        self.ws_url = self._read_ws_url(folder / "chromium.log")
        self.port = self._port = int(self.ws_url.split(":")[2].split("/")[0])
        self._path = "/" + self.ws_url.split("/", 3)[3]

    @staticmethod
    def _read_ws_url(log: Path) -> str:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            for line in log.read_text(encoding="utf-8").splitlines():
                if line.startswith("DevTools listening on "):
                    return line.removeprefix("DevTools listening on ").strip()
            time.sleep(0.02)
        raise AssertionError("Chromium never said where it listens")

    @property
    def is_running(self) -> bool:
        return bool(process_tree.group_members(self._id))

    def _ask_to_close(self) -> None:
        """Send `Browser.close` over a websocket of our own: one frame, masked with zeros."""
        message = b'{"id":1,"method":"Browser.close"}'
        with socket.create_connection(("127.0.0.1", self._port), timeout=5) as link:
            link.sendall(
                f"GET {self._path} HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n"
                "Connection: Upgrade\r\nSec-WebSocket-Key: bmlnaHRzaGlmdG5pZ2h0cw==\r\n"
                "Sec-WebSocket-Version: 13\r\n\r\n".encode()
            )
            link.recv(4096)
            link.sendall(bytes([0x81, 0x80 | len(message), 0, 0, 0, 0]) + message)
            link.recv(4096)

    def stop(self) -> None:
        """End it as a vendor does: politely, so that its cookies are on disk."""
        # The program is a script that does not wait for the browser it starts: the group counts.
        members = process_tree.group_members(self._id)
        if members:
            self._ask_to_close()
        if not process_tree.wait_dead(members, 5):
            process_tree.kill_group(self._id)
        self.process.wait(10)
        self._log.close()


@dataclass
class Reply:
    """An answer of a vendor's API."""

    status: int
    body: Any


@dataclass
class VendorServer:
    """One vendor's API on loopback; `dialect` knows its shapes."""

    dialect: Dialect
    folder: Path
    throttle: int = 0
    nonsense: bool = False
    dead_endpoint: bool = False
    deaf_stop: bool = False
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
            state = "running" if self.is_running(profile) else "terminated"
            return Reply(200, {"lifetimeState": state})
        if self.expired_tokens:
            self.expired_tokens -= 1
            return Reply(401, {"status": {"http_code": 401, "message": "token expired"}})
        if verb == "start":
            return self._start(profile)
        if verb == "stop" and self.is_running(profile):
            if self.slow_stop_looks:
                self._stopping.append(profile)
            elif not self.deaf_stop:
                self.running.pop(profile).stop()
            return self.dialect.stopped
        return self.dialect.not_running if verb == "stop" else Reply(404, {})

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


@dataclass(frozen=True)
class Dialect:
    """The shapes of one vendor's API, written down apart from the presets they test."""

    routes: dict[tuple[str, str], str]
    started: Callable[[DebugBrowser], Any]
    already_running: Reply
    not_running: Reply
    throttled: Reply
    stopped: Reply
    id_field: str | None = None

    def read(self, method: str, path: str, body: Any) -> tuple[str, str]:
        """Give the verb of a request and the profile it is about."""
        for (route_method, pattern), verb in self.routes.items():
            before, _, after = pattern.partition("*")
            if method != route_method or not path.startswith(before) or not path.endswith(after):
                continue
            if self.id_field is None:
                return verb, path[len(before) : len(path) - len(after)]
            if path == pattern:
                return verb, body[self.id_field]
        return "unknown", ""


def _failed(message: str, code: int = -1) -> Reply:
    return Reply(200, {"code": code, "msg": message, "data": {}})


def _multilogin(status: int, code: str) -> Reply:
    state = {"error_code": code, "http_code": status, "message": code}
    return Reply(status, {"data": None, "status": state})


DIALECTS = {
    "kameleo": Dialect(
        routes={
            ("POST", "/profiles/*/start"): "start",
            ("POST", "/profiles/*/stop"): "stop",
            ("GET", "/profiles/*/status"): "status",
        },
        started=lambda _: {"lifetimeState": "running"},
        already_running=Reply(409, {"message": "already running"}),
        not_running=Reply(409, {"message": "not running"}),
        throttled=Reply(429, {"message": "limit"}),
        stopped=Reply(200, {"lifetimeState": "terminated"}),
    ),
    "multilogin": Dialect(
        routes={
            ("POST", "/user/signin"): "sign_in",
            (
                "GET",
                "/api/v2/profile/f/the-folder/p/*/start"
                "?automation_type=playwright&headless_mode=false",
            ): "start",
            ("GET", "/api/v1/profile/stop/p/*"): "stop",
        },
        started=lambda browser: {
            "data": {"port": str(browser.port)},
            "status": {"error_code": "", "http_code": 200},
        },
        already_running=_multilogin(400, "PROFILE_ALREADY_RUNNING"),
        not_running=_multilogin(404, "PROFILE_NOT_RUNNING"),
        throttled=_multilogin(429, "TOO_MANY_REQUESTS"),
        stopped=_multilogin(200, ""),
    ),
    "adspower": Dialect(
        routes={
            ("POST", "/api/v2/browser-profile/start"): "start",
            ("POST", "/api/v2/browser-profile/stop"): "stop",
        },
        started=lambda browser: {
            "code": 0,
            "data": {"ws": {"puppeteer": browser.ws_url}, "debug_port": str(browser.port)},
        },
        already_running=_failed("profile is already open"),
        not_running=_failed("profile is not open"),
        throttled=_failed("Too many request per second, please check"),
        stopped=Reply(200, {"code": 0, "msg": "success"}),
        id_field="profile_id",
    ),
    "gologin": Dialect(
        routes={
            ("POST", "/browser/start-profile"): "start",
            ("POST", "/browser/stop-profile"): "stop",
        },
        started=lambda browser: {"status": "success", "wsUrl": browser.ws_url},
        already_running=Reply(409, {"message": "profile already running"}),
        not_running=Reply(404, {"message": "profile not running"}),
        throttled=Reply(429, {"message": "slow down"}),
        stopped=Reply(204, b""),
        id_field="profileId",
    ),
    "undetectable": Dialect(
        routes={
            ("GET", "/profile/start/*"): "start",
            ("GET", "/profile/stop/*"): "stop",
        },
        started=lambda browser: {
            "code": 0,
            "status": "success",
            "data": {"websocket_link": browser.ws_url, "debug_port": str(browser.port)},
        },
        already_running=Reply(200, {"code": 1, "data": {"error": "Profile is already running"}}),
        not_running=Reply(200, {"code": 1, "data": {"error": "Profile is not running"}}),
        throttled=Reply(429, {}),
        stopped=Reply(200, {"code": 0, "status": "success", "data": {}}),
    ),
    "morelogin": Dialect(
        routes={
            ("POST", "/api/env/start"): "start",
            ("POST", "/api/env/close"): "stop",
        },
        started=lambda browser: {"code": 0, "data": {"debugPort": str(browser.port)}},
        already_running=_failed("the env is already running"),
        not_running=_failed("the env is not running"),
        throttled=Reply(429, {}),
        stopped=Reply(200, {"code": 0, "msg": None, "data": {}}),
        id_field="envId",
    ),
}


class RecordingProxy:
    """An HTTP proxy that wants a login, keeps what it was asked for, and answers by itself."""

    def __init__(self, username: str, password: str) -> None:
        self.seen: list[str] = []
        expected = "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode()
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                is_known = self.headers.get("Proxy-Authorization") == expected
                body = f"<title>through {proxy.port}</title>".encode() if is_known else b""
                self.send_response(200 if is_known else 407)
                if is_known:
                    proxy.seen.append(self.path)
                    self.send_header("Set-Cookie", "seen=1; Max-Age=1000")
                else:
                    self.send_header("Proxy-Authenticate", 'Basic realm="night"')
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self.port = self._server.server_port
        self.proxy = Proxy("http", "127.0.0.1", self.port, username, password)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
