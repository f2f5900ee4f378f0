"""The settings of browsers elsewhere, read once before the workers are forked.

What holds a secret is a variable: taken out of the environment, and masked in all that this process
and its children write. A file of headers is read anew for every connection: tokens may change.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, MutableMapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from worker.browser.elsewhere.endpoints import Endpoint, expand, order_for, secrets_in
from worker.browser.elsewhere.rests import Rests
from worker.errors import SettingsError
from worker.evidence import known_secrets
from worker.references import text_of, urls_of
from worker.urls import endpoint_problem

FLAG = "--browser-endpoint"
VARIABLE = "NIGHTSHIFT_BROWSER_ENDPOINT"
HEADERS = "NIGHTSHIFT_BROWSER_HEADERS"
HEADERS_FILE = "NIGHTSHIFT_BROWSER_HEADERS_FILE"
STATUS_URL = "NIGHTSHIFT_BROWSER_STATUS_URL"
SESSION_FIELD = "NIGHTSHIFT_BROWSER_SESSION_FIELD"
LIVE_FIELD = "NIGHTSHIFT_BROWSER_LIVE_FIELD"
LIVE_URL = "NIGHTSHIFT_BROWSER_LIVE_URL"
CLOSE_URL = "NIGHTSHIFT_BROWSER_CLOSE_URL"


@dataclass(frozen=True, slots=True)
class Service:
    """How to ask a service for what it knows of a session, and to end it; all of it optional."""

    status_url: str = ""
    session_field: str = "id"
    live_field: str = ""
    live_url: str = ""
    close_url: str = ""


@dataclass(frozen=True, slots=True)
class Headers:
    """The headers that are sent to every endpoint."""

    fixed: tuple[tuple[str, str], ...] = ()
    file: Path | None = None

    def read(self) -> dict[str, str]:
        """Return them as they are now, masked from then on; raises SettingsError."""
        found = dict(self.fixed)
        if self.file is not None:
            found |= parse_headers(text_of(self.file, f"{HEADERS_FILE} {self.file}"), HEADERS_FILE)
        known_secrets.of_browser(secrets_of_headers(found))
        return found


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Where browsers are to be had, for all workers of a run; `of_slot` is one worker's view."""

    endpoints: tuple[Endpoint, ...]
    rests: Rests = field(repr=False)
    headers: Headers = field(default=Headers(), repr=False)
    service: Service = field(default=Service(), repr=False)
    # Whether jobs work in the context that the service has made, each in a session of its own.
    has_default_context: bool = False

    @property
    def may_need_closing(self) -> bool:
        """Whether a session may have to be ended by a call."""
        has_function = any(endpoint.is_function for endpoint in self.endpoints)
        return bool(self.service.close_url) or has_function

    def order_for(self, slot: int) -> Sequence[int]:
        """Number the endpoints as this slot tries them."""
        return order_for(self.endpoints, slot)


def take(
    values: Iterable[str],
    environ: MutableMapping[str, str],
    slots: Iterable[int] = (0,),
    *,
    has_default_context: bool = False,
) -> Elsewhere | None:
    """Read all settings; None without an endpoint. Raises SettingsError for what is wrong."""
    addresses = [url for value in values for url in urls_of(value, environ, FLAG)]
    environ.pop(VARIABLE, None)
    headers = Headers(_fixed(environ.pop(HEADERS, "")), _file(environ.get(HEADERS_FILE, "")))
    close, status = environ.pop(CLOSE_URL, ""), environ.pop(STATUS_URL, "")
    service = Service(
        status_url=status,
        session_field=environ.get(SESSION_FIELD, "") or "id",
        live_field=environ.get(LIVE_FIELD, ""),
        live_url=environ.pop(LIVE_URL, ""),
        close_url=close,
    )
    known_secrets.keep(s for url in (*addresses, close, status) for s in secrets_in(url))
    if not addresses:
        return None
    if problem := endpoint_problem(addresses):
        raise SettingsError(f"{FLAG}: {problem}")
    headers.read()
    endpoints = expand(addresses, slots)
    return Elsewhere(
        endpoints, Rests(len(endpoints)), headers, service, has_default_context=has_default_context
    )


def parse_headers(text: str, setting: str) -> dict[str, str]:
    """Read headers: a JSON object, or one `Name: value` a line; raises SettingsError."""
    if text.strip().startswith("{"):
        try:
            found = json.loads(text)
        except ValueError as error:
            raise SettingsError(f"{setting} is not JSON; {_HOW}") from error
    else:
        lines = [line for line in text.splitlines() if line.strip()]
        if not all(":" in line for line in lines):
            raise SettingsError(f"{setting} holds a line that is no header; {_HOW}")
        found = {name: value for name, _, value in (line.partition(":") for line in lines)}
    headers = {str(name).strip(): value for name, value in found.items()}
    if not all(_is_header(name, value) for name, value in headers.items()):
        raise SettingsError(f"{setting} holds what is no header; {_HOW}")
    return {name: value.strip() for name, value in headers.items()}


def secrets_of_headers(headers: dict[str, str]) -> list[str]:
    """List the values of headers, and the token alone of `Bearer …`."""
    values = list(headers.values())
    return [*values, *(value.rpartition(" ")[2] for value in values)]


_HOW = 'write {"Authorization": "Bearer …"}, or one "Name: value" a line'


def _is_header(name: str, value: object) -> bool:
    return (
        isinstance(value, str)
        and bool(name)
        and not any(c in name for c in " \t:\r\n")
        and not any(c in value.strip() for c in "\r\n\0")
    )


def _fixed(text: str) -> tuple[tuple[str, str], ...]:
    return tuple(parse_headers(text, HEADERS).items())


def _file(text: str) -> Path | None:
    return Path(text).expanduser() if text else None
