"""Where to connect now: an endpoint's address made whole, or what the user's own function answers.

A function is called anew for every connection, with the worker's slot, and in a thread: one that
hangs is left behind.
"""

from __future__ import annotations

import socket
import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import urlsplit
from urllib.request import getproxies

from worker.browser.elsewhere.config import FLAG, Elsewhere, secrets_of_headers
from worker.browser.elsewhere.endpoints import (
    SESSION,
    Endpoint,
    Speech,
    secrets_in,
    speech_of,
)
from worker.browser.elsewhere.troubles import EndpointFailed
from worker.browser.providers.endpoint import label as label_of
from worker.errors import message_of
from worker.evidence import known_secrets
from worker.evidence.redaction import redact_text
from worker.system.user_module import function_of
from worker.urls import endpoint_problem

T = TypeVar("T")

FUNCTION_SECONDS = 60.0
REACH_SECONDS = 5.0
_PORTS = {"ws": 80, "http": 80, "wss": 443, "https": 443}


@dataclass(frozen=True, slots=True)
class Place:
    """One address for one connection, with its headers; and what is known of the session there."""

    speech: Speech
    url: str = field(repr=False)
    headers: dict[str, str] = field(default_factory=dict, repr=False)
    session: str | None = None
    live_url: str | None = None

    @property
    def label(self) -> str:
        """Name it without its secrets."""
        return label_of(self.url)


def place_of(endpoint: Endpoint, elsewhere: Elsewhere, slot: int) -> Place:
    """Say where to connect; raises EndpointFailed when a function gives no address."""
    session = str(uuid.uuid4())
    headers = elsewhere.headers.read()
    if not endpoint.is_function:
        speech, address = speech_of(endpoint.address)
        is_ours = SESSION in address
        url = address.replace(SESSION, session)
        return Place(speech, url, headers, session if is_ours else None)
    url, own, facts = _answer(endpoint, slot)
    known_secrets.of_browser([*secrets_in(url), *secrets_of_headers(own)])
    speech, address = speech_of(url)
    return Place(speech, address, headers | own, facts.get("session"), facts.get("live"))


def require_functions(elsewhere: Elsewhere) -> None:
    """Load the functions that are named as endpoints; raises SettingsError for a wrong one."""
    for endpoint in elsewhere.endpoints:
        if endpoint.is_function:
            find_function(endpoint)


def find_function(endpoint: Endpoint) -> Callable[..., Any]:
    """Find the user's own function; raises SettingsError in one line."""
    return function_of(endpoint.address, FLAG, "give an address, or your own function")


def is_reachable(url: str, seconds: float = REACH_SECONDS) -> bool | None:
    """Tell whether somebody listens at an address; None when that cannot be told from here."""
    parts = urlsplit(url)
    if parts.hostname is None or (parts.scheme in ("http", "https") and getproxies()):
        return None
    address = (parts.hostname, parts.port or _PORTS[parts.scheme])

    def connect() -> bool:
        socket.create_connection(address, seconds).close()
        return True

    try:
        # Looking a name up has no limit of its own.
        return bool(in_a_thread(connect, seconds + 1.0))
    except (OSError, TimeoutError):
        return False


def in_a_thread(work: Callable[[], T], seconds: float) -> T:
    """Do something that may hang; raises what it raises, or TimeoutError."""
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # noqa: BLE001 - it is raised by whoever waits.
            errors.append(error)

    thread = threading.Thread(target=run, name="endpoint", daemon=True)
    thread.start()
    thread.join(seconds)
    if errors:
        raise errors[0]
    if not results:
        raise TimeoutError(f"no answer in {seconds:g} s")
    return results[0]


def _answer(endpoint: Endpoint, slot: int) -> tuple[str, dict[str, str], dict[str, str]]:
    """Ask a function for url, headers and facts; whatever it does, that is one line."""
    function = find_function(endpoint)
    try:
        found = in_a_thread(lambda: function(slot), FUNCTION_SECONDS)
    except BaseException as error:  # noqa: BLE001 - it is a stranger's code.
        said = redact_text(" ".join(message_of(error).split()))[:200]
        raise EndpointFailed(f"it raised {type(error).__name__}: {said}") from None
    parts = (found,) if isinstance(found, str) else found
    if not isinstance(parts, tuple | list) or not 1 <= len(parts) <= 3:
        raise _odd("it returned neither (url, headers) nor (url, headers, facts)")
    url, headers, facts = [*parts, None, None][:3]
    if not isinstance(url, str) or "://" not in url or endpoint_problem([url]):
        raise _odd("it returned no address of a browser")
    return url, _texts(headers, "headers"), _texts(facts, "facts")


def _texts(found: object, what: str) -> dict[str, str]:
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise _odd(f"its {what} are no dict")
    return {str(name): str(value) for name, value in found.items() if value is not None}


def _odd(reason: str) -> EndpointFailed:
    return EndpointFailed(reason, is_lasting=True)
