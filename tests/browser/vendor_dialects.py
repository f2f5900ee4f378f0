"""The vendors' APIs as their manuals show them: routes, answers, refusals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.browser.debug_browser import DebugBrowser


@dataclass
class Reply:
    """An answer of a vendor's API."""

    status: int
    body: Any


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
    status: Callable[[bool], Any] = lambda _: {}

    def read(self, method: str, path: str, body: Any) -> tuple[str, str]:
        """Give the verb of a request and the profile it is about."""
        for (route_method, pattern), verb in self.routes.items():
            before, _, after = pattern.partition("*")
            if method != route_method or not path.startswith(before) or not path.endswith(after):
                continue
            if self.id_field is None or body is None:
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
        status=lambda runs: {"lifetimeState": "running" if runs else "terminated"},
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
            ("GET", "/api/v1/profile/status/p/*"): "status",
        },
        started=lambda browser: {
            "data": {"port": str(browser.port)},
            "status": {"error_code": "", "http_code": 200},
        },
        already_running=_multilogin(400, "PROFILE_ALREADY_RUNNING"),
        not_running=_multilogin(404, "PROFILE_NOT_RUNNING"),
        throttled=_multilogin(429, "TOO_MANY_REQUESTS"),
        stopped=_multilogin(200, ""),
        status=lambda runs: {"data": {"status": "browser_running" if runs else "stopped"}},
    ),
    "adspower": Dialect(
        routes={
            ("POST", "/api/v2/browser-profile/start"): "start",
            ("POST", "/api/v2/browser-profile/stop"): "stop",
            ("GET", "/api/v2/browser-profile/active?profile_id=*"): "status",
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
        status=lambda runs: {"code": 0, "data": {"status": "Active" if runs else "Inactive"}},
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
