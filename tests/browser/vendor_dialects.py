"""The vendors' APIs as their manuals show them, and as other people's clients have met them."""

from __future__ import annotations

from typing import Any

from tests.browser.more_vendor_dialects import MORE_DIALECTS
from tests.browser.vendor_dialect import Dialect, Reply, State, failed


def _multilogin(status: int, code: str, message: str = "") -> Reply:
    state = {"error_code": code, "http_code": status, "message": message or code}
    return Reply(status, {"data": None, "status": state})


def _kameleo(status: int, title: str, detail: str) -> Reply:
    return Reply(status, {"status": status, "title": title, "detail": detail, "errorCode": "E"})


def _adspower_status(state: State, _: list[State]) -> Any:
    found: dict[str, Any] = {"status": "Active" if state.runs else "Inactive"}
    if state.browser is not None and state.runs:
        found |= {"ws": {"puppeteer": state.browser.ws_url}, "debug_port": str(state.browser.port)}
    return {"code": 0, "msg": "success", "data": found}


def _undetectable_list(_: State, states: list[State]) -> Any:
    names = {"running": "Started", "locked": "Locked", "stopped": "Available"}
    return {
        "code": 0,
        "status": "success",
        "data": {
            state.profile: {
                "name": "a profile",
                "status": names[state.name],
                "debug_port": str(state.browser.port) if state.browser else "",
                "websocket_link": state.browser.ws_url if state.browser else "",
            }
            for state in states
        },
    }


DIALECTS = {
    "kameleo": Dialect(
        routes={
            ("POST", "/profiles/*/start"): "start",
            ("POST", "/profiles/*/stop"): "stop",
            ("GET", "/profiles/*/status"): "status",
        },
        started=lambda _: {"lifetimeState": "running"},
        already_running=_kameleo(409, "Conflict", "The profile is already running."),
        locked=_kameleo(409, "Conflict", "The profile is in use on another machine."),
        not_running=_kameleo(409, "Conflict", "The profile is not running."),
        throttled=_kameleo(429, "Too Many Requests", "Too many profiles are started."),
        stopped=Reply(200, {"lifetimeState": "terminated"}),
        status=lambda state, _: {
            "lifetimeState": "terminated" if state.name == "stopped" else state.name
        },
    ),
    "multilogin": Dialect(
        routes={
            ("POST", "/user/signin"): "sign_in",
            ("POST", "/user/refresh_token"): "refresh",
            (
                "GET",
                "/api/v2/profile/f/the-folder/p/*/start"
                "?automation_type=playwright&headless_mode=false",
            ): "start",
            (
                "GET",
                "/api/v2/profile/f/the-folder/p/*/start"
                "?automation_type=playwright&headless_mode=true",
            ): "start",
            ("GET", "/api/v1/profile/stop/p/*"): "stop",
            ("GET", "/api/v1/profile/status/p/*"): "status",
        },
        started=lambda browser: {
            "data": {"port": str(browser.port)},
            "status": {"error_code": "", "http_code": 200},
        },
        already_running=_multilogin(400, "PROFILE_ALREADY_RUNNING"),
        locked=_multilogin(400, "LOCK_PROFILE_ERROR", "can't lock profile"),
        preparing=_multilogin(500, "CORE_DOWNLOADING_ALREADY_STARTED", "core is downloading"),
        not_running=_multilogin(500, "", "profile already stopped"),
        throttled=_multilogin(429, "TOO_MANY_REQUESTS"),
        stopped=_multilogin(200, ""),
        status=lambda state, _: {
            "data": {"status": "browser_running" if state.runs else "stopped"}
        },
        key_header="Authorization",
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
        locked=failed("The profile is being used by [teammate@example.com]"),
        preparing=failed("SunBrowser 130 is updating, please wait"),
        not_running=failed("profile is not open"),
        throttled=failed("Too many request per second, please check"),
        stopped=Reply(200, {"code": 0, "msg": "success"}),
        unready={"code": 0, "msg": "success", "data": {"ws": {"puppeteer": ""}, "debug_port": ""}},
        id_path="profile_id",
        status=_adspower_status,
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
        id_path="profileId",
    ),
    "undetectable": Dialect(
        routes={
            ("GET", "/profile/start/*"): "start",
            ("GET", "/profile/stop/*"): "stop",
            ("GET", "/list"): "status",
        },
        started=lambda browser: {
            "code": 0,
            "status": "success",
            "data": {"websocket_link": browser.ws_url, "debug_port": str(browser.port)},
        },
        already_running=Reply(200, {"code": 1, "data": {"error": "Profile is already running"}}),
        locked=Reply(200, {"code": 1, "data": {"error": "Profile cannot be started"}}),
        not_running=Reply(200, {"code": 1, "data": {"error": "Profile is not running"}}),
        throttled=Reply(429, {}),
        stopped=Reply(200, {"code": 0, "status": "success", "data": {}}),
        status=_undetectable_list,
    ),
    "morelogin": Dialect(
        routes={
            ("POST", "/api/env/start"): "start",
            ("POST", "/api/env/close"): "stop",
            ("POST", "/api/env/status"): "status",
        },
        started=lambda browser: {"code": 0, "data": {"debugPort": str(browser.port)}},
        already_running=failed("please close it first", 100),
        not_running=failed("the env is not running"),
        throttled=Reply(429, {"code": 429, "msg": "Rate limit exceeded"}),
        stopped=Reply(200, {"code": 0, "msg": None, "data": {}}),
        id_path="envId",
        status=lambda state, _: {
            "code": 0,
            "msg": None,
            "data": {
                "envId": state.profile,
                "localStatus": state.name,
                "debugPort": str(state.browser.port) if state.browser else "",
            },
        },
    ),
    **MORE_DIALECTS,
}
