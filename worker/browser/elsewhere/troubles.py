"""Why an endpoint gives no browser: one line without its address, and whether it may pass."""

from __future__ import annotations

import importlib.metadata
import re

from worker.browser.launch import first_line
from worker.errors import NightshiftError
from worker.evidence.redaction import redact_text

_STATUS = re.compile(r"(?:WebSocket error: \S+|Unexpected status) (\d{3})\b")
_VERSION = re.compile(r"server version: v(\d+\.\d+)")
_CALL = re.compile(r"^BrowserType\.\w+: (?:WebSocket error: )?")
_ADDRESS = re.compile(r"\b(?:ws|wss|http|https)://\S+")
_CERTIFICATE = re.compile(r"certificate|self.signed|TLS|SSL routines|altnames", re.IGNORECASE)
_REFUSED_LOGIN = (401, 402, 403, 407)
_NOT_THERE = (400, 404, 405, 410)
_FULL = (429, 503)
_UNKNOWN = "its name is not known: look at the address, or at the resolver"
_PASSING = {
    "ECONNREFUSED": "it refuses the connection: look whether it runs",
    "socket hang up": (
        "it hangs up: behind TLS give its wss:// address, for Chromium itself names a ws:// one"
    ),
    "ENOTFOUND": _UNKNOWN,
    "EAI_AGAIN": _UNKNOWN,
}


class EndpointFailed(NightshiftError):
    """An endpoint gave no browser; `is_lasting` when only a person can change that."""

    def __init__(self, reason: str, *, is_lasting: bool = False) -> None:
        super().__init__(reason)
        self.is_lasting = is_lasting


def explain(message: str, speech: str) -> EndpointFailed:
    """Make of what Playwright says of a failed connect what a person reads and a worker acts on."""
    if found := _VERSION.search(message):
        return _lasting(
            f"it runs Playwright {found[1]}, and this is {own_version()}: start it with "
            f"{own_version()}, or pip install 'playwright=={found[1]}.*' here"
        )
    if found := _STATUS.search(message):
        return _by_status(int(found[1]), _body(message), speech)
    if "Executable doesn't exist" in message:
        return _lasting(
            "it has no Chromium of its version: run `npx playwright install chromium` there"
        )
    if "is not valid JSON" in message or "Malformed endpoint" in message:
        return _of_another_speech(speech)
    if "Protocol error (Browser.getVersion)" in message:
        return _of_another_speech(speech)
    for sign, reason in _PASSING.items():
        if sign in message:
            return EndpointFailed(reason)
    if _CERTIFICATE.search(message):
        return _lasting(
            f"its certificate is not trusted ({_plain(message)}): for an authority of your own "
            f"set NODE_EXTRA_CA_CERTS=/path/to/ca.pem"
        )
    if "Timeout" in message and "exceeded" in message:
        return EndpointFailed(f"it gives no browser in time; {_other(speech)}")
    return EndpointFailed(_plain(message))


def own_version() -> str:
    """The version of Playwright here, as far as a server's has to be the same."""
    return ".".join(importlib.metadata.version("playwright").split(".")[:2])


def _by_status(status: int, said: str, speech: str) -> EndpointFailed:
    told = f"HTTP {status}{f': {said}' if said else ''}"
    if status in _REFUSED_LOGIN:
        return _lasting(f"it refuses our login ({told}): correct its token or headers")
    if status in _NOT_THERE:
        return _lasting(
            f"there is no browser at its path ({told}): correct the address, or {_other(speech)}"
        )
    if status in _FULL:
        return EndpointFailed(f"it is full or away ({told})")
    return EndpointFailed(f"it answers {told}")


def _of_another_speech(speech: str) -> EndpointFailed:
    return _lasting(f"it does not speak {_NAMES[speech]}; {_other(speech)}")


_NAMES = {"cdp": "CDP", "playwright": "Playwright's protocol"}


def _other(speech: str) -> str:
    other = "playwright" if speech == "cdp" else "cdp"
    return f"if it speaks {_NAMES[other]}, write {other}+ before its address"


def _lasting(reason: str) -> EndpointFailed:
    return EndpointFailed(reason, is_lasting=True)


def _body(message: str) -> str:
    """What an answer said beside its status: its first line, made fit for a message."""
    lines = message.split("Call log:")[0].splitlines()[1:]
    text = next((line.strip(" ║╔╗╚╝═") for line in lines if line.strip(" ║╔╗╚╝═")), "")
    return _plain(text)[:100] if text else ""


def _plain(message: str) -> str:
    return redact_text(_ADDRESS.sub("…", _CALL.sub("", first_line(message))))
