"""Dolphin{anty}, BitBrowser, Octo, Nstbrowser and two clouds, as their manuals show them."""

from __future__ import annotations

from typing import Any

from tests.browser.debug_browser import DebugBrowser
from tests.browser.vendor_dialect import Dialect, Reply, State


def _dolphin_error(code: str, text: str, status: int = 400) -> Reply:
    error = {"code": code, "text": text}
    return Reply(status, {"success": False, "error": text, "errorObject": error})


def _octo_profile(browser: DebugBrowser) -> dict[str, Any]:
    return {
        "state": "STARTED",
        "headless": False,
        "ws_endpoint": browser.ws_url,
        "debug_port": str(browser.port),
    }


def _session(state: State) -> dict[str, Any]:
    return {
        "id": state.session,
        "status": "RUNNING" if state.runs else "COMPLETED",
        "contextId": state.profile,
        "userMetadata": state.metadata,
    }


def _browserbase_answers(state: State, states: list[State]) -> Any:
    """Tell of one session, or list those that run if none is named."""
    if state.session:
        return _session(state)
    return [_session(each) for each in states if each.runs]


MORE_DIALECTS = {
    "gologin_cloud": Dialect(
        routes={
            ("GET", "/browser/*"): "start",
            ("DELETE", "/browser/*/web"): "stop",
        },
        started=lambda _: {"id": "p-1", "name": "a profile"},
        not_running=Reply(404, {"message": "profile is not running"}),
        throttled=Reply(429, {"message": "Too many requests"}),
        stopped=Reply(200, {"status": "success"}),
    ),
    "dolphin": Dialect(
        routes={
            ("POST", "/v1.0/auth/login-with-token"): "log_in",
            ("POST", "/v1.0/browser_profiles/*/start"): "start",
            ("GET", "/v1.0/browser_profiles/*/stop"): "stop",
        },
        started=lambda browser: {
            "success": True,
            "automation": {
                "port": browser.port,
                "wsEndpoint": "/" + browser.ws_url.split("/", 3)[3],
            },
        },
        already_running=_dolphin_error("E_BROWSER_RUN_DUPLICATE", "Profile is running"),
        not_running=_dolphin_error("E_BROWSER_STOP", "The browser is not running", 500),
        throttled=Reply(429, {"success": False, "error": "Too many requests"}),
        stopped=Reply(200, {"success": True}),
    ),
    "bitbrowser": Dialect(
        routes={
            ("POST", "/browser/open"): "start",
            ("POST", "/browser/close"): "stop",
            ("POST", "/browser/pids/alive"): "pids",
        },
        started=lambda browser: {
            "success": True,
            "data": {"ws": browser.ws_url, "http": f"127.0.0.1:{browser.port}"},
        },
        not_running=Reply(200, {"success": False, "msg": "the window is not open"}),
        throttled=Reply(429, {"success": False, "msg": "slow down"}),
        stopped=Reply(200, {"success": True}),
        unready={"success": True, "data": {"ws": "", "http": ""}},
        id_path="id",
        status=lambda state, _: {
            "success": True,
            "data": {state.profile: 4711} if state.runs else {},
        },
    ),
    "octo": Dialect(
        routes={
            ("POST", "/api/auth/login"): "log_in",
            ("POST", "/api/profiles/start"): "start",
            ("POST", "/api/profiles/stop"): "stop",
            ("GET", "/api/profiles/active"): "status",
        },
        started=_octo_profile,
        already_running=Reply(400, {"error": "Profile is already started", "code": 2}),
        not_running=Reply(400, {"error": "Profile is not started"}),
        throttled=Reply(429, {"msg": "slow down"}),
        stopped=Reply(200, {"msg": "Profile stopped"}),
        id_path="uuid",
        status=lambda _, states: [
            {"uuid": each.profile, **_octo_profile(each.browser)}
            for each in states
            if each.runs and each.browser is not None
        ],
    ),
    "nstbrowser": Dialect(
        routes={
            ("POST", "/api/v2/browsers/*"): "start",
            ("DELETE", "/api/v2/browsers/*"): "stop",
        },
        started=lambda browser: {
            "err": False,
            "code": 200,
            "data": {"webSocketDebuggerUrl": browser.ws_url},
        },
        already_running=Reply(200, {"err": True, "code": 400, "msg": "already running"}),
        not_running=Reply(200, {"err": True, "code": 400, "msg": "browser is not running"}),
        throttled=Reply(429, {"err": True, "msg": "slow down"}),
        stopped=Reply(200, {"err": False, "code": 200, "data": None}),
        key_header="x-api-key",
    ),
    "browserbase": Dialect(
        routes={
            ("POST", "/v1/sessions"): "start",
            ("GET", "/v1/sessions?status=RUNNING"): "find",
            ("POST", "/v1/sessions/*"): "stop",
            ("GET", "/v1/sessions/*"): "status",
        },
        started=lambda browser: {"status": "RUNNING", "connectUrl": browser.ws_url},
        not_running=Reply(400, {"message": "The session cannot be updated"}),
        throttled=Reply(429, {"message": "max concurrent sessions limit"}),
        stopped=Reply(200, {"status": "RUNNING"}),
        id_path="browserSettings.context.id",
        status=_browserbase_answers,
        has_sessions=True,
        key_header="X-BB-API-Key",
    ),
}
